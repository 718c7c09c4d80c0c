/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear reconstruction at the face and the flux of Harten, Lax and van Leer between
 * the two states. Every rank runs it twice a cycle; most of the computing time is here.
 */
#include "apps/sage/flux.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct side {
    double density, pressure;
    double velocity[N_AXES];
    double normal, sound;
};

/* State of a cell at a face; offset leads from the cell's centre to the face's. */
static bool reconstruct(const struct work *work, int cell, const double offset[N_AXES],
                        double at_face_out[N_PRIMITIVE])
{
    const double *mean = work->primitive[cell];
    const double *slope = work->slope[cell];

    for (int v = 0; v < N_PRIMITIVE; v++) {
        at_face_out[v] =
            mean[v] + (slope[v] * offset[0] + slope[N_PRIMITIVE + v] * offset[1] +
                       slope[2 * N_PRIMITIVE + v] * offset[2]);
    }
    if (at_face_out[DENSITY] > 0 && at_face_out[PRESSURE] > 0) {
        return true;
    }
    memcpy(at_face_out, mean, sizeof(work->primitive[cell]));
    return false;
}

static struct side side_of(const double primitive[N_PRIMITIVE], int axis, double gamma)
{
    struct side side = {
        .density = primitive[DENSITY],
        .pressure = primitive[PRESSURE],
        .velocity = {primitive[VELOCITY], primitive[VELOCITY + 1],
                     primitive[VELOCITY + 2]},
        .normal = primitive[VELOCITY + axis],
    };

    side.sound = sqrt(gamma * side.pressure / side.density);
    return side;
}

/* Conserved densities of a side and their flux along an axis. */
static void densities_and_flux(const struct side *side, int axis, double gamma,
                               double density_out[N_CONSERVED],
                               double flux_out[N_CONSERVED])
{
    const double *velocity = side->velocity;
    double speed_squared = velocity[0] * velocity[0] + velocity[1] * velocity[1] +
                           velocity[2] * velocity[2];

    density_out[MASS] = side->density;
    density_out[MOMENTUM] = side->density * velocity[0];
    density_out[MOMENTUM + 1] = side->density * velocity[1];
    density_out[MOMENTUM + 2] = side->density * velocity[2];
    density_out[ENERGY] =
        side->pressure / (gamma - 1) + 0.5 * side->density * speed_squared;
    for (int n = 0; n < N_CONSERVED; n++) {
        flux_out[n] = density_out[n] * side->normal;
    }
    flux_out[MOMENTUM + axis] += side->pressure;
    flux_out[ENERGY] += side->pressure * side->normal;
}

static void hll_flux(const struct side *low, const struct side *high, int axis,
                     double gamma, double flux_out[N_CONSERVED])
{
    double slowest = fmin(low->normal - low->sound, high->normal - high->sound);
    double fastest = fmax(low->normal + low->sound, high->normal + high->sound);
    double density_low[N_CONSERVED], density_high[N_CONSERVED];
    double flux_low[N_CONSERVED], flux_high[N_CONSERVED];
    double per_width;

    densities_and_flux(low, axis, gamma, density_low, flux_low);
    densities_and_flux(high, axis, gamma, density_high, flux_high);
    slowest = slowest < 0 ? slowest : 0;
    fastest = fastest > 0 ? fastest : 0;
    per_width = 1 / (fastest - slowest);
    for (int n = 0; n < N_CONSERVED; n++) {
        flux_out[n] = (fastest * flux_low[n] - slowest * flux_high[n] +
                       fastest * slowest * (density_high[n] - density_low[n])) *
                      per_width;
    }
}

/* Way from the centre of a cell to the centre of a face. */
static void set_offset(double offset_out[N_AXES], const struct face *face, int axis,
                       double normal, double quarter)
{
    offset_out[axis] = normal;
    offset_out[axis == 0 ? 1 : 0] = quarter * face->quarter[0];
    offset_out[axis == 2 ? 1 : 2] = quarter * face->quarter[1];
}

/* Returns the number of sides that fell back to the mean. */
static int add_face(struct simulation *simulation, const struct face *face, int axis,
                    double time)
{
    const struct units *units = &simulation->units;
    struct work *work = &simulation->work;
    bool is_low_coarser = face->level_low < face->level_high;
    double edge_low = units->edge[face->level_low];
    double edge_high = units->edge[face->level_high];
    double factor =
        time * units->area[is_low_coarser ? face->level_high : face->level_low];
    double offset_low[N_AXES], offset_high[N_AXES];
    double at_low[N_PRIMITIVE], at_high[N_PRIMITIVE], flux[N_CONSERVED];
    struct side low, high;
    int n_fallbacks = 0;

    set_offset(offset_low, face, axis, 0.5 * edge_low,
               is_low_coarser ? 0.25 * edge_low : 0);
    set_offset(offset_high, face, axis, -0.5 * edge_high,
               is_low_coarser ? 0 : 0.25 * edge_high);
    n_fallbacks += !reconstruct(work, face->low, offset_low, at_low);
    n_fallbacks += !reconstruct(work, face->high, offset_high, at_high);
    low = side_of(at_low, axis, units->gamma);
    high = side_of(at_high, axis, units->gamma);
    hll_flux(&low, &high, axis, units->gamma, flux);
    for (int n = 0; n < N_CONSERVED; n++) {
        int64_t moved = (int64_t)(flux[n] * factor * units->per_size[n]);
        work->change[face->low][n] -= moved;
        work->change[face->high][n] += moved;
    }
    return n_fallbacks;
}

/* A wall only gives momentum: the HLL flux between a state and its mirror image. */
static int add_wall(struct simulation *simulation, const struct wall *wall, double time)
{
    const struct units *units = &simulation->units;
    int axis = wall->axis;
    double direction = wall->side == 0 ? -1 : 1;
    double offset[N_AXES] = {0};
    double at_wall[N_PRIMITIVE];
    struct side side;
    double outward, pressure;
    int64_t moved;
    int n_fallbacks;

    offset[axis] = direction * 0.5 * units->edge[wall->level];
    n_fallbacks = !reconstruct(&simulation->work, wall->cell, offset, at_wall);
    side = side_of(at_wall, axis, units->gamma);
    outward = direction * side.normal;
    pressure =
        side.pressure + side.density * outward * (outward + fabs(outward) + side.sound);
    moved = (int64_t)(-direction * pressure * units->area[wall->level] * time *
                      units->per_size[MOMENTUM + axis]);
    simulation->work.change[wall->cell][MOMENTUM + axis] += moved;
    wide_sum_add(&simulation->impulse[axis], moved);
    return n_fallbacks;
}

static int64_t add_faces(struct simulation *simulation, int axis, int from, int to,
                         double time)
{
    int64_t n_fallbacks = 0;

    for (int f = from; f < to; f++) {
        n_fallbacks +=
            add_face(simulation, &simulation->faces.list[axis][f], axis, time);
    }
    return n_fallbacks;
}

int64_t flux_add_inner(struct simulation *simulation, int axis, double time)
{
    const struct faces *faces = &simulation->faces;

    return add_faces(simulation, axis, faces->first_owned[axis],
                     faces->first_border[axis], time);
}

int64_t flux_add_border(struct simulation *simulation, double time)
{
    const struct faces *faces = &simulation->faces;
    int64_t n_fallbacks = 0;

    for (int axis = 0; axis < N_AXES; axis++) {
        n_fallbacks += add_faces(simulation, axis, faces->first_border[axis],
                                 faces->n[axis], time);
    }
    for (int w = 0; w < faces->n_walls; w++) {
        n_fallbacks += add_wall(simulation, &faces->walls[w], time);
    }
    return n_fallbacks;
}
