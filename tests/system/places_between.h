/* SPDX-License-Identifier: BSD-3-Clause */
/* A library between a program and MPI. */
#ifndef TESTS_SYSTEM_PLACES_BETWEEN_H
#define TESTS_SYSTEM_PLACES_BETWEEN_H

/** Receive a word from anybody. */
void between_receive(int *word, int tag);

#endif
