/* One pass over a recurrent state: its norm, largest magnitude, the norms of its samples, NaN and Inf.

   torch does the same in six passes, where the package was built without a compiler. Vectors are those of GCC and Clang,
   which compile them for any processor. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { LANES = 8, CHAINS = 2, BLOCK = LANES * CHAINS };

typedef float floats __attribute__((vector_size(32)));
typedef int32_t words __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32)));
typedef int64_t longs __attribute__((vector_size(32)));

/* Without its sign, a number's bits are ordered like the number; those of Inf are above all others, NaN's above them. */
static const int32_t INFINITE_32 = 0x7f800000;
static const int64_t INFINITE_64 = 0x7ff0000000000000;

struct row {
  double squares;
  int64_t top;
  int infinite;
};

static void one_by_one(const float *x, int64_t count, struct row *told) {
  for (int64_t n = 0; n < count; n++) {
    int32_t bits;
    memcpy(&bits, x + n, sizeof bits);
    bits &= 0x7fffffff;
    told->squares += (double)x[n] * x[n];
    if (bits > told->top) told->top = bits;
    told->infinite |= bits == INFINITE_32;
  }
}

/* Several sums run side by side: one addition need not wait for the one before. */
FOR_EACH_PROCESSOR
static double vectors(const float *x, int64_t width, struct row *told) {
  double squares = 0;
  floats sums[CHAINS] = {{0}};
  words tops[CHAINS] = {{0}}, seen[CHAINS] = {{0}};
  int64_t at = 0;
  for (; at + BLOCK <= width; at += BLOCK) {
    for (int chain = 0; chain < CHAINS; chain++) {
      floats values;
      words bits;
      memcpy(&values, x + at + chain * LANES, sizeof values);
      memcpy(&bits, &values, sizeof bits);
      bits &= 0x7fffffff;
      words above = bits > tops[chain];
      sums[chain] += values * values;
      tops[chain] = (bits & above) | (tops[chain] & ~above);
      seen[chain] |= bits == INFINITE_32;
    }
  }
  for (int chain = 0; chain < CHAINS; chain++)
    for (int lane = 0; lane < LANES; lane++) {
      squares += sums[chain][lane];
      if (tops[chain][lane] > told->top) told->top = tops[chain][lane];
      told->infinite |= seen[chain][lane] != 0;
    }
  one_by_one(x + at, width - at, told);
  return squares;
}

static void row_32(const float *x, int64_t width, struct row *told) {
  double squares = vectors(x, width, told);
  if (isinf(squares)) {  /* squares above 3e38 leave single precision */
    squares = 0;
    for (int64_t n = 0; n < width - width % BLOCK; n++) squares += (double)x[n] * x[n];
  }
  told->squares += squares;
}

FOR_EACH_PROCESSOR
static void row_64(const double *x, int64_t width, struct row *told) {
  doubles sums[CHAINS] = {{0}};
  longs tops[CHAINS] = {{0}}, seen[CHAINS] = {{0}};
  int64_t at = 0;
  for (; at + BLOCK / 2 <= width; at += BLOCK / 2) {
    for (int chain = 0; chain < CHAINS; chain++) {
      doubles values;
      longs bits;
      memcpy(&values, x + at + chain * LANES / 2, sizeof values);
      memcpy(&bits, &values, sizeof bits);
      bits &= 0x7fffffffffffffff;
      longs above = bits > tops[chain];
      sums[chain] += values * values;
      tops[chain] = (bits & above) | (tops[chain] & ~above);
      seen[chain] |= bits == INFINITE_64;
    }
  }
  for (int chain = 0; chain < CHAINS; chain++)
    for (int lane = 0; lane < LANES / 2; lane++) {
      told->squares += sums[chain][lane];
      if (tops[chain][lane] > told->top) told->top = tops[chain][lane];
      told->infinite |= seen[chain][lane] != 0;
    }
  for (; at < width; at++) {
    int64_t bits;
    memcpy(&bits, x + at, sizeof bits);
    bits &= 0x7fffffffffffffff;
    told->squares += x[at] * x[at];
    if (bits > told->top) told->top = bits;
    told->infinite |= bits == INFINITE_64;
  }
}

static double number(int64_t bits, int wide) {
  if (wide) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  int32_t narrow = (int32_t)bits;
  float value;
  memcpy(&value, &narrow, sizeof value);
  return value;
}

/* `x` is (layers, samples, width). `told`: norm, largest magnitude, largest and smallest norm of a sample, Inf seen. */
EXPORT void traindx_state(const void *x, int64_t layers, int64_t samples, int64_t width, int32_t wide, double *told) {
  struct row all = {0, 0, 0};
  double largest = 0, smallest = INFINITY;
  for (int64_t sample = 0; sample < samples; sample++) {
    struct row own = {0, 0, 0};
    for (int64_t layer = 0; layer < layers; layer++) {
      int64_t at = (layer * samples + sample) * width;
      if (wide) row_64((const double *)x + at, width, &own);
      else row_32((const float *)x + at, width, &own);
    }
    all.squares += own.squares;
    if (own.top > all.top) all.top = own.top;
    all.infinite |= own.infinite;
    if (own.squares > largest) largest = own.squares;
    if (own.squares < smallest) smallest = own.squares;
  }
  int broken = isnan(all.squares);
  told[0] = sqrt(all.squares);
  told[1] = number(all.top, wide);
  told[2] = broken ? NAN : sqrt(largest);
  told[3] = broken ? NAN : sqrt(smallest);
  told[4] = all.infinite;
}
