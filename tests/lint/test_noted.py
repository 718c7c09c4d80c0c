#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_noted.py finds what functions.def and a table that tells of it do not have alike."""

import unittest

import check_noted


class NotedTest(unittest.TestCase):
    """Rows of functions.def and a table that tells of them."""

    ROWS = "SHIM_MAKES(GROUP, Comm_group,\n    (MPI_Comm c))\nSHIM_FREES(GROUP, Group_free, (g))\n"
    GOOD = "But 2 of these functions\n\n" + check_noted.HEAD + "| `GROUP` | `MPI_Comm_group` | `MPI_Group_free` |\n"

    def found(self, document):
        return "\n".join(check_noted.problems(self.ROWS, document))

    def test_a_table_that_tells_all_is_right(self):
        self.assertEqual(self.found(self.GOOD), "")

    def test_a_function_that_is_not_told_is_found(self):
        self.assertIn("MPI_Group_free is missing", self.found(self.GOOD.replace("`MPI_Group_free`", "")))

    def test_a_function_that_is_of_another_kind_is_found(self):
        self.assertIn("not as GROUP that it makes", self.found(self.GOOD.replace("`GROUP`", "`OP`")))

    def test_a_function_that_is_not_interposed_is_found(self):
        told = self.GOOD.replace("`MPI_Comm_group`", "`MPI_Comm_group`, `MPI_Comm_size`")
        self.assertIn("no SHIM_MAKES(GROUP, ...) of MPI_Comm_size", self.found(told))

    def test_a_function_that_is_told_twice_is_found(self):
        told = self.GOOD.replace("`MPI_Comm_group`", "`MPI_Comm_group`, `MPI_Comm_group`")
        self.assertIn("twice", self.found(told))

    def test_a_wrong_number_is_found(self):
        self.assertIn('say "2 of', self.found(self.GOOD.replace("2 of", "3 of")))

    def test_a_document_without_the_table_is_found(self):
        self.assertIn("one table", self.found("But 2 of these functions\n"))


if __name__ == "__main__":
    unittest.main()
