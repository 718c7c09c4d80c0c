/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Return values of the public functions: 0 is success, a negative value is -errno and
 * fatal, a positive value is one of the named conditions below and part of the contract
 * of the function that returns it.
 */
#ifndef BCS_STATUS_H
#define BCS_STATUS_H

/** bcs_xfer_and_signal: no free slot, nothing was started; retry after progress. */
#define BCS_E_BUSY 1
/** What was received is longer than its buffer. The buffer holds the first part of a
 *  message; a record that bcs_remote_take finds stays where it is. */
#define BCS_E_TRUNCATED 2
/** What a call was asked to look for is not there yet; never if it was to wait. */
#define BCS_E_PENDING 3
/* The library uses 4 inside. No function returns it to a program. */

/** The members of a group were in different collectives, or did not mean the same
 *  one. */
#define BCS_E_DISAGREED 5
/** The other end of a channel was closed, and nothing is left to be received; or the
 *  region of a remote command was taken back. */
#define BCS_E_CLOSED 6
/** A buffer to which something was to be appended has no room. */
#define BCS_E_FULL 7

#endif
