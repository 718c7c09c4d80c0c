/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's library, which is loaded at run time by its soname: a program that brings its
 * own, of the same name, is not disturbed, and a job on one machine needs none. Only
 * functions that UCX 1.13 has. Called when a process makes its first far connection,
 * from one thread.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_UCX_UCP_LIBRARY_H
#define LIBBCS_FABRIC_TRANSPORT_UCX_UCP_LIBRARY_H

#include <ucp/api/ucp.h>

#define UCP_FUNCTIONS(X)                                                               \
    X(ucp_am_send_nbx)                                                                 \
    X(ucp_cleanup)                                                                     \
    X(ucp_config_modify)                                                               \
    X(ucp_config_read)                                                                 \
    X(ucp_config_release)                                                              \
    X(ucp_ep_close_nbx)                                                                \
    X(ucp_ep_create)                                                                   \
    X(ucp_init_version)                                                                \
    X(ucp_request_check_status)                                                        \
    X(ucp_request_free)                                                                \
    X(ucp_worker_arm)                                                                  \
    X(ucp_worker_create)                                                               \
    X(ucp_worker_destroy)                                                              \
    X(ucp_worker_get_address)                                                          \
    X(ucp_worker_get_efd)                                                              \
    X(ucp_worker_progress)                                                             \
    X(ucp_worker_release_address)                                                      \
    X(ucp_worker_set_am_recv_handler)                                                  \
    X(ucs_status_string)

/** The functions, by their names. */
struct ucp_library {
#define UCP_MEMBER(name) __typeof__(name) *name;
    UCP_FUNCTIONS(UCP_MEMBER)
#undef UCP_MEMBER
};

/**
 * Load the library, for the life of the process.
 *
 * @return 0 or -ELIBACC: it cannot be loaded, logged with what to install
 */
int ucp_library_load(struct ucp_library *library_out);

#endif
