/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole number that the command line gives.
 */
#ifndef CHANNEL_NUMBER_OPTION_H
#define CHANNEL_NUMBER_OPTION_H

/**
 * Take the value of an option.
 *
 * @param option   as the user writes it
 * @param message  gets one line if the value is refused; MESSAGE_BYTES long
 * @return 0 or -EINVAL; then *value_out is as it was
 */
int number_option_take(const char *option, const char *text, long least, long most,
                       long *value_out, char *message);

#endif
