/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of pages; see html.h. Pure.
 */
#include "mds/tool/report/html.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "libbcs/fabric/base/utf8.h"

void html_text(FILE *out, const char *text)
{
    size_t n_left = strlen(text), n;

    for (; n_left > 0; text += n, n_left -= n) {
        unsigned char first = (unsigned char)text[0];
        size_t n_character = bcs_utf8_bytes(text, n_left);
        bool is_control =
            (first < ' ' && strchr("\t\n", first) == NULL) || first == 0x7f ||
            (n_character == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);

        n = n_character > 0 ? n_character : 1;
        if (n_character == 0 || is_control) {
            fputs("\xef\xbf\xbd", out);
        } else if (strchr("&<>\"'", first) != NULL) {
            fprintf(out, "&#%d;", first);
        } else {
            fwrite(text, 1, n, out);
        }
    }
}

/** A unit, and how many of the smallest it is. */
struct unit {
    double size;
    const char *name;
};

static const struct unit times[] = {
    {1e9, "s"}, {1e6, "ms"}, {1e3, "&#181;s"}, {0, "ns"}};
static const struct unit sizes[] = {
    {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {0, "B"}};

/** The unit for a number; the last one is for all. */
static const struct unit *unit_for(double number, const struct unit *unit)
{
    while (number < unit->size) {
        unit++;
    }
    return unit;
}

static double in_unit(double number, const struct unit *unit)
{
    return unit->size > 0 ? number / unit->size : number;
}

/** Print with three digits, but no part of a smallest unit. */
static void print_in(FILE *out, double number, const struct unit *units)
{
    const struct unit *unit = unit_for(number, units);
    double many = in_unit(number, unit);
    int n_digits = many >= 100 || unit->size == 0 ? 0 : many >= 10 ? 1 : 2;

    fprintf(out, "%.*f&nbsp;%s", n_digits, many, unit->name);
}

void html_time(FILE *out, double ns)
{
    print_in(out, ns, times);
}

void html_bytes(FILE *out, double n_bytes)
{
    print_in(out, n_bytes, sizes);
}

void html_tick(FILE *out, double value, bool is_size)
{
    const struct unit *unit = unit_for(value, is_size ? sizes : times);

    fprintf(out, "%.4g&nbsp;%s", in_unit(value, unit), unit->name);
}

void html_count(FILE *out, uint64_t number)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, number);

    for (int i = 0; i < n; i++) {
        fputs(i > 0 && (n - i) % 3 == 0 ? "&#8239;" : "", out);
        fputc(digits[i], out);
    }
}

void html_cell(FILE *out)
{
    fputs("<td>", out);
}

void html_percent_cell(FILE *out, double part)
{
    fprintf(out, "<td>%.1f", 100 * part);
}
