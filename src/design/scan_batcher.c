/* scan_batcher.c - scans that wait for each other, so that one reading serves them all.
 *
 * Several solvers run at a time, each in a thread of its own with a design of its own; all these
 * lead to one hub. A scan is left there until every solver that is not done waits for one: then the
 * hub's own thread scans the base with all their vectors. Each result has the bits that it would
 * have alone, so nobody can tell. Only `slots` solvers compute at a time; who waits for a scan
 * computes not. */
#include "design/design.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
    vxs_design design; /* whose base is the solver's own design, for all but scans */
    vxs_hub *hub;
    const double *v; /* what it waits for, or NULL */
    size_t k;
    double *s;
    uint64_t shared; /* columns read for it in scans with others */
} member;

struct vxs_hub {
    vxs_design *base;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t slots, busy;      /* solvers that may compute, and that do */
    size_t solvers, waiting; /* that are not done, and that wait for a scan */
    member **list;           /* those that wait */
};

/* ---- Taking turns ---------------------------------------------------------------------------- */

/* With the lock. */
static void take_slot(vxs_hub *hub)
{
    while (hub->busy >= hub->slots)
        pthread_cond_wait(&hub->changed, &hub->lock);
    hub->busy++;
}

static void give_slot(vxs_hub *hub)
{
    hub->busy--;
    pthread_cond_broadcast(&hub->changed);
}

void vxs_hub_begin(vxs_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    take_slot(hub);
    pthread_mutex_unlock(&hub->lock);
}

void vxs_hub_end(vxs_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    hub->solvers--;
    give_slot(hub);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- Scans ----------------------------------------------------------------------------------- */

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    member *m = (member *)design;
    vxs_hub *hub = m->hub;
    pthread_mutex_lock(&hub->lock);
    m->v = v;
    m->k = k;
    m->s = s;
    hub->list[hub->waiting++] = m;
    give_slot(hub);
    while (m->v)
        pthread_cond_wait(&hub->changed, &hub->lock);
    take_slot(hub);
    pthread_mutex_unlock(&hub->lock);
}

/* Together, or without memory for that one after the other. */
static void serve(vxs_hub *hub)
{
    size_t n = hub->base->n, p = hub->base->p, k = 0, at = 0;
    for (size_t i = 0; i < hub->waiting; i++)
        k += hub->list[i]->k;
    double *wide = vxs_alloc(k, vxs_times(n, sizeof(*wide)), NULL);
    double *results = wide ? vxs_alloc(k, vxs_times(p, sizeof(*results)), NULL) : NULL;
    for (size_t i = 0; i < hub->waiting; i++) {
        member *m = hub->list[i];
        if (!results)
            vxs_design_scan(hub->base, m->v, m->k, m->s);
        else
            memcpy(wide + at * n, m->v, m->k * n * sizeof(*wide));
        at += m->k;
        m->shared += p / hub->waiting;
    }
    if (results)
        vxs_design_scan(hub->base, wide, k, results);
    at = 0;
    for (size_t i = 0; i < hub->waiting; i++) {
        member *m = hub->list[i];
        if (results)
            memcpy(m->s, results + at * p, m->k * p * sizeof(*results));
        at += m->k;
        m->v = NULL;
    }
    hub->waiting = 0;
    free(wide);
    free(results);
}

void vxs_hub_serve(vxs_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    while (hub->solvers > 0) {
        if (hub->waiting == hub->solvers) {
            serve(hub);
            pthread_cond_broadcast(&hub->changed);
        }
        if (hub->solvers > 0 && hub->waiting < hub->solvers)
            pthread_cond_wait(&hub->changed, &hub->lock);
    }
    pthread_mutex_unlock(&hub->lock);
}

/* ---- The other ways to touch the data -------------------------------------------------------- */

static void release(vxs_design *design)
{
    vxs_design_free(design->base);
}

static uint64_t shared(const vxs_design *design)
{
    return ((const member *)design)->shared;
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = vxs_pass_scan_some,
    .fetch = vxs_pass_fetch,
    .measure = vxs_measure_by_moments,
    .moments = vxs_pass_moments,
    .shared = shared,
    .release = release,
};

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_hub_new(vxs_design *base, size_t solvers, size_t slots, vxs_hub **hub,
                       vxs_error *err)
{
    vxs_hub *made = vxs_alloc(1, sizeof(*made), err);
    member **list = made ? vxs_alloc(solvers, sizeof(*list), err) : NULL;
    if (!list) {
        free(made);
        vxs_design_free(base);
        return VXS_FAILED;
    }
    made->base = base;
    made->list = list;
    made->solvers = solvers;
    made->slots = slots;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *hub = made;
    return VXS_OK;
}

void vxs_hub_free(vxs_hub *hub)
{
    if (!hub)
        return;
    pthread_mutex_destroy(&hub->lock);
    pthread_cond_destroy(&hub->changed);
    vxs_design_free(hub->base);
    free((void *)hub->list);
    free(hub);
}

vxs_status vxs_hub_design(vxs_hub *hub, vxs_design *own, vxs_design **design, vxs_error *err)
{
    member *made = vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        vxs_design_free(own);
        return VXS_FAILED;
    }
    made->design = (vxs_design){
        .kind = &kind, .n = own->n, .p = own->p, .nthreads = own->nthreads, .base = own
    };
    made->hub = hub;
    *design = &made->design;
    return VXS_OK;
}
