/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a sweep, which is also the order of all additions to a cell: octant by
 * octant, in each block of angles by block, in each block of k planes by block. The two
 * octants that start from one corner of the process grid follow each other, so that the
 * second fills the pipeline while the first drains. Runs on every rank.
 */
#include "apps/sweep3d/sweep.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "apps/sweep3d/exchange.h"
#include "apps/sweep3d/kernel.h"
#include "apps/sweep3d/quadrature.h"

#define N_OCTANTS 8

struct sweep {
    const struct input *input;
    const struct decomposition *decomposition;
    struct quadrature quadrature;
    int n_angle_blocks, n_plane_blocks;
    struct exchange *exchange;
    /* Angular flux on the k face between two planes: [j][i][angle of the block]. */
    double *face_k;
};

/* One step: which octant, which angles and which planes, and with whom to exchange. */
struct step {
    int direction[3];
    int first_angle;
    /* Planes are counted in the direction of the sweep. */
    int first_plane, n_planes;
    struct exchange_step exchange;
};

/* Directions along i and j in the order in which the corners take their turn. */
static const int corners[N_OCTANTS / 2][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

struct sweep *sweep_create(const struct input *input,
                           const struct decomposition *decomposition,
                           bool is_nonblocking)
{
    struct sweep *sweep = calloc(1, sizeof(*sweep));
    size_t block = (size_t)input->mk * input->mmi;
    size_t n_i = decomposition->i.n_mine;
    size_t n_j = decomposition->j.n_mine;

    if (sweep == NULL) {
        return NULL;
    }
    sweep->input = input;
    sweep->decomposition = decomposition;
    quadrature_init(&sweep->quadrature, input->mm);
    sweep->n_angle_blocks = input->mm / input->mmi;
    sweep->n_plane_blocks = (input->kt + input->mk - 1) / input->mk;
    sweep->exchange = exchange_create(n_j * block, n_i * block, is_nonblocking);
    sweep->face_k = malloc(n_i * n_j * input->mmi * sizeof(double));
    if (sweep->exchange == NULL || sweep->face_k == NULL) {
        sweep_destroy(sweep);
        return NULL;
    }
    return sweep;
}

void sweep_destroy(struct sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    exchange_destroy(sweep->exchange);
    free(sweep->face_k);
    free(sweep);
}

int sweep_n_steps(const struct sweep *sweep)
{
    return N_OCTANTS * sweep->n_angle_blocks * sweep->n_plane_blocks;
}

static void step_init(struct step *step, const struct sweep *sweep, int index)
{
    const struct decomposition *decomposition = sweep->decomposition;
    const struct input *input = sweep->input;
    int plane_block = index % sweep->n_plane_blocks;
    int angle_block = index / sweep->n_plane_blocks % sweep->n_angle_blocks;
    int octant = index / sweep->n_plane_blocks / sweep->n_angle_blocks;
    const struct axis *i = &decomposition->i;
    const struct axis *j = &decomposition->j;
    bool is_up_i, is_up_j;

    step->direction[0] = corners[octant / 2][0];
    step->direction[1] = corners[octant / 2][1];
    step->direction[2] = octant % 2 == 0 ? -1 : 1;
    step->first_angle = angle_block * input->mmi;
    step->first_plane = plane_block * input->mk;
    step->n_planes = input->kt - step->first_plane;
    if (step->n_planes > input->mk) {
        step->n_planes = input->mk;
    }
    is_up_i = step->direction[0] > 0;
    is_up_j = step->direction[1] > 0;
    step->exchange = (struct exchange_step){
        .from_i = is_up_i ? i->lower : i->higher,
        .to_i = is_up_i ? i->higher : i->lower,
        .from_j = is_up_j ? j->lower : j->higher,
        .to_j = is_up_j ? j->higher : j->lower,
        .n_i_values = step->n_planes * j->n_mine * input->mmi,
        .n_j_values = step->n_planes * i->n_mine * input->mmi,
    };
}

static void angles_init(struct kernel_angles *angles, const struct sweep *sweep,
                        const struct step *step)
{
    const struct input *input = sweep->input;
    const double width[3] = {input->dx, input->dy, input->dz};

    angles->n_angles = input->mmi;
    angles->is_fixed_up = input->ifixups != 0;
    angles->sigt = input->sigt;
    for (int a = 0; a < input->mmi; a++) {
        double sum = input->sigt;
        for (int axis = 0; axis < 3; axis++) {
            double cosine = sweep->quadrature.cosine[axis][step->first_angle + a];
            angles->cosine[axis][a] = step->direction[axis] * cosine;
            angles->slope[axis][a] = 2 * cosine / width[axis];
            sum += angles->slope[axis][a];
        }
        angles->inverse[a] = 1 / sum;
        angles->weight[a] = sweep->quadrature.weight[step->first_angle + a];
    }
}

/* The n-th index in the direction of the sweep. */
static int walk(int direction, int n, int n_all)
{
    return direction > 0 ? n : n_all - 1 - n;
}

static long sweep_plane(const struct kernel_angles *angles, const struct step *step,
                        struct fields *fields, int k, struct kernel_line line)
{
    double *face_i = line.face_i;
    double *face_k = line.face_k;
    long n_fixed = 0;

    for (int n = 0; n < fields->n_j; n++) {
        int j = walk(step->direction[1], n, fields->n_j);
        size_t cell = ((size_t)k * fields->n_j + j) * fields->n_i;
        for (int moment = 0; moment < fields->n_moments; moment++) {
            line.flux[moment] = fields->flux[moment] + cell;
            line.source[moment] = fields->source[moment] + cell;
        }
        line.face_i = face_i + (size_t)j * angles->n_angles;
        line.face_k = face_k + (size_t)j * fields->n_i * angles->n_angles;
        n_fixed += fields->n_moments == 1 ? kernel_sweep_line_p0(angles, &line)
                                          : kernel_sweep_line_p1(angles, &line);
    }
    return n_fixed;
}

/* Sweep the planes of a step; faces hold [plane of the step][j or i][angle]. */
static long sweep_block(const struct sweep *sweep, const struct kernel_angles *angles,
                        const struct step *step, struct fields *fields,
                        const struct exchange_faces *faces)
{
    struct kernel_line line = {
        .n_i = fields->n_i,
        .start = walk(step->direction[0], 0, fields->n_i),
        .step = step->direction[0],
        .face_k = sweep->face_k,
    };
    long n_fixed = 0;

    for (int n = 0; n < step->n_planes; n++) {
        int k = walk(step->direction[2], step->first_plane + n, fields->n_k);
        line.face_i = faces->i + (size_t)n * fields->n_j * angles->n_angles;
        line.face_j = faces->j + (size_t)n * fields->n_i * angles->n_angles;
        n_fixed += sweep_plane(angles, step, fields, k, line);
    }
    return n_fixed;
}

/* Add weight * |cosine| * angular flux, what leaves, at n places of an outer face. */
static void add_leakage(double *leakage, const double *outflow, size_t n,
                        const struct kernel_angles *angles, int axis)
{
    double factor[QUADRATURE_MAX_ANGLES];

    for (int a = 0; a < angles->n_angles; a++) {
        factor[a] = angles->weight[a] * fabs(angles->cosine[axis][a]);
    }
    for (size_t place = 0; place < n; place++) {
        for (int a = 0; a < angles->n_angles; a++) {
            leakage[place] += factor[a] * outflow[place * angles->n_angles + a];
        }
    }
}

static void add_side_leakage(const struct kernel_angles *angles,
                             const struct step *step, struct fields *fields,
                             const struct exchange_faces *faces)
{
    double *side_i = fields->leakage[step->direction[0] > 0 ? FACE_EAST : FACE_WEST];
    double *side_j = fields->leakage[step->direction[1] > 0 ? FACE_NORTH : FACE_SOUTH];
    size_t n_i = fields->n_i;
    size_t n_j = fields->n_j;

    for (int n = 0; n < step->n_planes; n++) {
        size_t k = walk(step->direction[2], step->first_plane + n, fields->n_k);
        if (step->exchange.to_i == MPI_PROC_NULL) {
            add_leakage(side_i + k * n_j, faces->i + n * n_j * angles->n_angles, n_j,
                        angles, 0);
        }
        if (step->exchange.to_j == MPI_PROC_NULL) {
            add_leakage(side_j + k * n_i, faces->j + n * n_i * angles->n_angles, n_i,
                        angles, 1);
        }
    }
}

static long step_run(struct sweep *sweep, const struct step *step,
                     const struct step *next, struct fields *fields)
{
    size_t n_k_places = (size_t)fields->n_i * fields->n_j;
    struct kernel_angles angles;
    struct exchange_faces faces;
    long n_fixed;

    angles_init(&angles, sweep, step);
    faces = exchange_receive(sweep->exchange, &step->exchange,
                             next != NULL ? &next->exchange : NULL);
    if (step->first_plane == 0) {
        memset(sweep->face_k, 0, n_k_places * angles.n_angles * sizeof(double));
    }
    n_fixed = sweep_block(sweep, &angles, step, fields, &faces);
    add_side_leakage(&angles, step, fields, &faces);
    exchange_send(sweep->exchange, &step->exchange);
    if (step->first_plane + step->n_planes == fields->n_k) {
        add_leakage(fields->leakage[step->direction[2] > 0 ? FACE_TOP : FACE_BOTTOM],
                    sweep->face_k, n_k_places, &angles, 2);
    }
    return n_fixed;
}

long sweep_run(struct sweep *sweep, struct fields *fields)
{
    int n_steps = sweep_n_steps(sweep);
    struct step step, next;
    long n_fixed = 0;

    step_init(&step, sweep, 0);
    exchange_start(sweep->exchange, &step.exchange);
    for (int s = 0; s < n_steps; s++) {
        bool is_last = s == n_steps - 1;
        if (!is_last) {
            step_init(&next, sweep, s + 1);
        }
        n_fixed += step_run(sweep, &step, is_last ? NULL : &next, fields);
        step = next;
    }
    exchange_finish(sweep->exchange);
    return n_fixed;
}
