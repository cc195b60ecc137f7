/* voxsift.h - the whole library. See docs/layout.md for the rooms behind it. */
#ifndef VOXSIFT_H
#define VOXSIFT_H

#include "voxsift/cohort.h"
#include "voxsift/core.h"
#include "voxsift/design.h"
#include "voxsift/evaluate.h"
#include "voxsift/files.h"
#include "voxsift/graph.h"
#include "voxsift/image.h"
#include "voxsift/loss.h"
#include "voxsift/machine.h"
#include "voxsift/model.h"
#include "voxsift/report.h"
#include "voxsift/simulate.h"
#include "voxsift/solver.h"
#include "voxsift/verify.h"

#endif
