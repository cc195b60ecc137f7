/* voxsift/internal/all.h - all headers, for the command line and tests; not installed. */
#ifndef VOXSIFT_INTERNAL_ALL_H
#define VOXSIFT_INTERNAL_ALL_H

#include "voxsift/internal/cohort.h"
#include "voxsift/internal/compare.h"
#include "voxsift/internal/core.h"
#include "voxsift/internal/design.h"
#include "voxsift/internal/evaluate.h"
#include "voxsift/internal/files.h"
#include "voxsift/internal/graph.h"
#include "voxsift/internal/image.h"
#include "voxsift/internal/loss.h"
#include "voxsift/internal/machine.h"
#include "voxsift/internal/model.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/report.h"
#include "voxsift/internal/simulate.h"
#include "voxsift/internal/solver.h"
#include "voxsift/internal/text.h"
#include "voxsift/internal/verify.h"

#endif
