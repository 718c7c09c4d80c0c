/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: who sends how much to whom, as a map of colours and the pairs with
 * the most. Of many ranks a place of the map stands for several that follow each other.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum {
    MOST_PLACES = 64, /* in a row */
    MOST_PAIRS = 15,
    N_SHADES = 6,
    ONE_SHADE = 3,  /* if all places have the same */
    SIDE = 512,     /* of the map, at most, */
    MOST_STEP = 48, /* and of a place */
    LEFT = 56,
    TOP = 40,
};

/** From little to much; the steps are even in print, too. */
static const char *const shades[N_SHADES] = {"#fee8c8", "#fdc38d", "#fc8d59",
                                             "#e34a33", "#b30000", "#5f0000"};

/** The map: bytes, or no messages. */
struct map {
    uint32_t n, n_each; /* places in a row, and ranks in each */
    double step;        /* from one place to the next, in the drawing */
    double bytes[MOST_PLACES][MOST_PLACES];
    bool has[MOST_PLACES][MOST_PLACES];
    double least, most; /* of the places with bytes */
};

/** A pair of ranks. */
struct pair {
    uint32_t from, to;
    uint64_t n, n_bytes;
};

static int compare(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->n_bytes != b->n_bytes) {
        return a->n_bytes > b->n_bytes ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

/** Keep a pair if it is one of those with the most; the first n of pairs are in use. */
static uint32_t keep(struct pair *pairs, uint32_t n, const struct pair *pair)
{
    uint32_t at = n < MOST_PAIRS ? n : n - 1;

    if (n == MOST_PAIRS && compare(pair, &pairs[at]) > 0) {
        return n;
    }
    for (; at > 0 && compare(pair, &pairs[at - 1]) < 0; at--) {
        pairs[at] = pairs[at - 1];
    }
    pairs[at] = *pair;
    return n < MOST_PAIRS ? n + 1 : n;
}

/** Fill the map, and find the pairs with the most. @return how many */
static uint32_t fill(const struct run *run, struct map *map, struct pair *pairs)
{
    uint32_t n_pairs = 0;

    map->n_each = (run->n_ranks - 1) / MOST_PLACES + 1;
    map->n = (run->n_ranks - 1) / map->n_each + 1;
    map->step = fmin(MOST_STEP, (double)SIDE / map->n);
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct dump_file *file = &run->files[i];

        for (uint32_t j = 0; j < file->peers.n; j++) {
            struct mds_dump_peer peer = dump_peer(file, j);
            struct pair pair = {file->process.rank, peer.rank, peer.n_sent,
                                peer.sent_bytes};

            if (peer.n_sent > 0) {
                uint32_t row = pair.from / map->n_each, column = pair.to / map->n_each;

                map->bytes[row][column] += (double)pair.n_bytes;
                map->has[row][column] = true;
                n_pairs = keep(pairs, n_pairs, &pair);
            }
        }
    }
    return n_pairs;
}

static void find_range(struct map *map)
{
    for (uint32_t i = 0; i < map->n; i++) {
        for (uint32_t j = 0; j < map->n; j++) {
            double bytes = map->bytes[i][j];

            if (bytes > 0) {
                map->most = fmax(map->most, bytes);
                map->least = map->least > 0 ? fmin(map->least, bytes) : bytes;
            }
        }
    }
}

/** The lower bound of a shade; they are even on a logarithmic scale. */
static double bound_of(const struct map *map, uint32_t shade)
{
    return map->least * pow(map->most / map->least, (double)shade / N_SHADES);
}

static uint32_t shade_of(const struct map *map, double bytes)
{
    uint32_t shade = 0;

    if (map->most <= map->least) {
        return ONE_SHADE;
    }
    while (shade + 1 < N_SHADES && bytes >= bound_of(map, shade + 1)) {
        shade++;
    }
    return shade;
}

/** All places of a shade in one path. */
static void print_shade(FILE *out, const struct map *map, uint32_t shade)
{
    double step = map->step;

    fprintf(out, "<path fill=\"%s\" d=\"", shades[shade]);
    for (uint32_t i = 0; i < map->n; i++) {
        for (uint32_t j = 0; j < map->n; j++) {
            if (map->has[i][j] && shade_of(map, map->bytes[i][j]) == shade) {
                fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + j * step,
                        TOP + i * step, step, step, step);
            }
        }
    }
    fprintf(out, "\"/>\n");
}

/** Ranks along both sides, at some eight places. */
static void print_axes(FILE *out, const struct map *map)
{
    double side = map->n * map->step;
    uint32_t each = (map->n + 7) / 8;

    for (uint32_t i = 0; i < map->n; i += each) {
        double middle = (i + 0.5) * map->step;

        fprintf(out,
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n",
                LEFT + middle, TOP - 6, i * map->n_each, LEFT - 6, TOP + middle + 4,
                i * map->n_each);
    }
    fprintf(out,
            "<text x=\"%.1f\" y=\"14\" text-anchor=\"middle\">to rank</text>"
            "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">"
            "from rank</text>\n<path class=frame d=\"M%d %dh%.1fv%.1fh-%.1fz\"/>\n",
            LEFT + side / 2, TOP + side / 2, LEFT, TOP, side, side, side);
}

static void print_legend(FILE *out, const struct map *map)
{
    bool is_one = map->most <= map->least;

    fprintf(out, "<p class=legend>Bytes");
    if (map->n_each > 1) {
        fprintf(out, " of %u ranks to %u", map->n_each, map->n_each);
    }
    fprintf(out, ": ");
    for (uint32_t i = is_one ? ONE_SHADE : 0; i < (is_one ? ONE_SHADE + 1 : N_SHADES);
         i++) {
        fprintf(out, "<span><i style=\"background:%s\"></i>%s", shades[i],
                is_one ? "" : "from ");
        html_bytes(out, is_one ? map->most : bound_of(map, i));
        fprintf(out, "</span> ");
    }
    if (!is_one) {
        fprintf(out, "to ");
        html_bytes(out, map->most);
    }
    fprintf(out, "</p>\n");
}

static void print_pairs(FILE *out, const struct pair *pairs, uint32_t n)
{
    fprintf(out, "<div><table>\n<thead><tr><th>From<th>To<th>Messages<th>Bytes<th>Mean"
                 "\n<tbody>\n");
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "<tr><th>%u<th>%u<td>", pairs[i].from, pairs[i].to);
        html_count(out, pairs[i].n);
        html_cell(out);
        html_bytes(out, (double)pairs[i].n_bytes);
        html_cell(out);
        html_bytes(out, (double)pairs[i].n_bytes / (double)pairs[i].n);
        fprintf(out, "\n");
    }
    fprintf(out, "</table></div>\n");
}

int report_print_matrix(FILE *out, const struct run *run)
{
    struct pair pairs[MOST_PAIRS];
    struct map *map = calloc(1, sizeof(*map));
    uint32_t n_pairs;

    if (map == NULL) {
        return -ENOMEM;
    }
    n_pairs = fill(run, map, pairs);
    find_range(map);
    fprintf(out, "<h2>Messages between ranks</h2>\n");
    if (n_pairs == 0) {
        fprintf(out, "<p>The program itself has sent none.</p>\n");
    } else {
        print_legend(out, map);
        fprintf(
            out,
            "<div class=matrix>\n<svg viewBox=\"0 0 %.0f %.0f\" style=\"width:%.0fpx\" "
            "role=\"img\">\n",
            LEFT + 2 + map->n * map->step, TOP + 2 + map->n * map->step,
            LEFT + 2 + map->n * map->step);
        for (uint32_t i = 0; i < N_SHADES; i++) {
            print_shade(out, map, i);
        }
        print_axes(out, map);
        fprintf(out, "</svg>\n");
        print_pairs(out, pairs, n_pairs);
        fprintf(out,
                "</div>\n<p>What collectives move is not among them. The table has "
                "the pairs with the most bytes.</p>\n");
    }
    free(map);
    return 0;
}
