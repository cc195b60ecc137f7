/* scan_batcher.c - batches the scans of several solvers, so that one pass over the data serves all.
 *
 * Several solvers run at a time, each in a thread of its own with a proxy design that forwards
 * scans to one batcher. A scan blocks until every active solver has one pending; then the batcher's
 * thread scans the base with all their vectors. Each result is bitwise equal to that of a separate
 * scan. At most `slots` solvers compute at a time; a solver with a pending scan releases its
 * slot. */
#include "design/design.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct proxy {
    vxs_design design; /* its base is the solver's own design, for everything except scans */
    vxs_scan_batcher *batcher;
    const double *v; /* pending scan, or NULL */
    size_t k;
    double *s;
    uint64_t shared; /* columns read in joint scans */
} proxy;

struct vxs_scan_batcher {
    vxs_design *base;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t slots, used;            /* slots, and how many are in use */
    size_t solvers, pending_count; /* active solvers, and those with a pending scan */
    proxy **pending;               /* solvers with a pending scan */
};

/* ---- Slots ----------------------------------------------------------------------------------- */

/* Requires the lock. */
static void acquire_slot(vxs_scan_batcher *batcher)
{
    while (batcher->used >= batcher->slots)
        pthread_cond_wait(&batcher->changed, &batcher->lock);
    batcher->used++;
}

static void release_slot(vxs_scan_batcher *batcher)
{
    batcher->used--;
    pthread_cond_broadcast(&batcher->changed);
}

void vxs_scan_batcher_begin(vxs_scan_batcher *batcher)
{
    pthread_mutex_lock(&batcher->lock);
    acquire_slot(batcher);
    pthread_mutex_unlock(&batcher->lock);
}

void vxs_scan_batcher_end(vxs_scan_batcher *batcher)
{
    pthread_mutex_lock(&batcher->lock);
    batcher->solvers--;
    release_slot(batcher);
    pthread_mutex_unlock(&batcher->lock);
}

/* ---- Scans ----------------------------------------------------------------------------------- */

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    proxy *m = (proxy *)design;
    vxs_scan_batcher *batcher = m->batcher;
    pthread_mutex_lock(&batcher->lock);
    m->v = v;
    m->k = k;
    m->s = s;
    batcher->pending[batcher->pending_count++] = m;
    release_slot(batcher);
    while (m->v)
        pthread_cond_wait(&batcher->changed, &batcher->lock);
    acquire_slot(batcher);
    pthread_mutex_unlock(&batcher->lock);
}

/* All scans at once; one after the other if out of memory. */
static void scan_pending(vxs_scan_batcher *batcher)
{
    size_t n = batcher->base->n, p = batcher->base->p, k = 0, at = 0;
    for (size_t i = 0; i < batcher->pending_count; i++)
        k += batcher->pending[i]->k;
    double *wide = vxs_alloc(k, vxs_times(n, sizeof(*wide)), NULL);
    double *results = wide ? vxs_alloc(k, vxs_times(p, sizeof(*results)), NULL) : NULL;
    for (size_t i = 0; i < batcher->pending_count; i++) {
        proxy *m = batcher->pending[i];
        if (!results)
            vxs_design_scan(batcher->base, m->v, m->k, m->s);
        else
            memcpy(wide + at * n, m->v, m->k * n * sizeof(*wide));
        at += m->k;
        m->shared += p / batcher->pending_count;
    }
    if (results)
        vxs_design_scan(batcher->base, wide, k, results);
    at = 0;
    for (size_t i = 0; i < batcher->pending_count; i++) {
        proxy *m = batcher->pending[i];
        if (results)
            memcpy(m->s, results + at * p, m->k * p * sizeof(*results));
        at += m->k;
        m->v = NULL;
    }
    batcher->pending_count = 0;
    free(wide);
    free(results);
}

void vxs_scan_batcher_run(vxs_scan_batcher *batcher)
{
    pthread_mutex_lock(&batcher->lock);
    while (batcher->solvers > 0) {
        if (batcher->pending_count == batcher->solvers) {
            scan_pending(batcher);
            pthread_cond_broadcast(&batcher->changed);
        }
        if (batcher->solvers > 0 && batcher->pending_count < batcher->solvers)
            pthread_cond_wait(&batcher->changed, &batcher->lock);
    }
    pthread_mutex_unlock(&batcher->lock);
}

/* ---- Other design functions ------------------------------------------------------------------ */

static void release(vxs_design *design)
{
    vxs_design_free(design->base);
}

static uint64_t shared(const vxs_design *design)
{
    return ((const proxy *)design)->shared;
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = vxs_forward_scan_some,
    .fetch = vxs_forward_fetch,
    .measure = vxs_measure_by_moments,
    .moments = vxs_forward_moments,
    .shared = shared,
    .release = release,
};

/* ---- Constructor ----------------------------------------------------------------------------- */

vxs_status vxs_scan_batcher_new(vxs_design *base, size_t solvers, size_t slots,
                                vxs_scan_batcher **batcher, vxs_error *err)
{
    vxs_scan_batcher *made = vxs_alloc(1, sizeof(*made), err);
    proxy **pending = made ? vxs_alloc(solvers, sizeof(*pending), err) : NULL;
    if (!pending) {
        free(made);
        vxs_design_free(base);
        return VXS_FAILED;
    }
    made->base = base;
    made->pending = pending;
    made->solvers = solvers;
    made->slots = slots;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *batcher = made;
    return VXS_OK;
}

void vxs_scan_batcher_free(vxs_scan_batcher *batcher)
{
    if (!batcher)
        return;
    pthread_mutex_destroy(&batcher->lock);
    pthread_cond_destroy(&batcher->changed);
    vxs_design_free(batcher->base);
    free((void *)batcher->pending);
    free(batcher);
}

vxs_status vxs_scan_batcher_design(vxs_scan_batcher *batcher, vxs_design *own, vxs_design **design,
                                   vxs_error *err)
{
    proxy *made = vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        vxs_design_free(own);
        return VXS_FAILED;
    }
    made->design = (vxs_design){
        .kind = &kind, .n = own->n, .p = own->p, .nthreads = own->nthreads, .base = own
    };
    made->batcher = batcher;
    *design = &made->design;
    return VXS_OK;
}
