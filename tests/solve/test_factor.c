/* test_factor.c - sparse factors, with and without a full square at their end. */
#include "solve/factor.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>
