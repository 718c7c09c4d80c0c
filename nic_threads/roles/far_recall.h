/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking a send back from a far receiver: its sender asks the receiver's node, and a
 * thread of that node takes the send back and answers.
 */
#ifndef NIC_THREADS_ROLES_FAR_RECALL_H
#define NIC_THREADS_ROLES_FAR_RECALL_H

#include "nic_threads/node/node.h"

/**
 * Ask for a send of this process that has left for a far node; then look for the
 * answer. By the thread that uses the engine, without a lock. A process has one
 * question open.
 *
 * @return NIC_WITHDRAWN_NOT_YET  asked, or the box is somebody else's: call it again
 */
enum nic_withdrawn nic_far_recall(struct nic_engine *engine, struct nic_recall *recall);

/** Answer what the view's node is asked, if anything. By one thread of the node,
 *  without a lock. @return false: it could not be answered now; call it again soon */
bool nic_far_recall_serve(struct nic_view *view);

#endif
