/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of --cells: the state of every cell, in the global order.
 */
#ifndef SAGE_CELL_FILE_H
#define SAGE_CELL_FILE_H

#include <stdio.h>

#include "apps/sage/simulation.h"

/**
 * Write a comment, then a line for each cell. Every rank calls it; errors are left in
 * the stream.
 *
 * @param file  open on rank 0, not used on the others
 */
void cell_file_write(FILE *file, const struct simulation *simulation);

#endif
