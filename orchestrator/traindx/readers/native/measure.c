/* What the numbers of a checkpoint are like, in one pass over the bytes as they are stored.

   numpy does the same, slower, where the package was built without a compiler. Sums are of doubles, so that squares of
   the smallest and the largest numbers of single precision are exact enough to be compared. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* What is told of stored numbers: how many are NaN, Inf and -Inf, and of all others zeros, range and sum of squares. */
struct measure {
  double nans, above, below, zeros, lowest, highest, squares;
};

enum { PIECE = 4096 };

static void one_by_one(const float *values, int64_t count, struct measure *told) {
  for (int64_t n = 0; n < count; n++) {
    double value = values[n];
    if (isnan(value)) told->nans++;
    else if (isinf(value)) *(value > 0 ? &told->above : &told->below) += 1;
    else {
      told->zeros += value == 0;
      told->squares += value * value;
      if (value < told->lowest) told->lowest = value;
      if (value > told->highest) told->highest = value;
    }
  }
}

/* At most PIECE numbers, several at a time; false where some of them are not finite, which their squares tell. */
static int several(const float *values, int64_t count, struct measure *told) {
  enum { LANES = 4 };
  float low[LANES], high[LANES];
  double sums[LANES] = {0};
  int64_t zeros = 0, whole = count - count % LANES;
  for (int lane = 0; lane < LANES; lane++) low[lane] = INFINITY, high[lane] = -INFINITY;
  for (int64_t n = 0; n < whole; n += LANES)
    for (int lane = 0; lane < LANES; lane++) {
      float value = values[n + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
      zeros += value == 0;
      sums[lane] += (double)value * value;
    }
  double squares = sums[0] + sums[1] + sums[2] + sums[3];
  if (!isfinite(squares)) return 0;
  told->squares += squares;
  told->zeros += zeros;
  for (int lane = 0; lane < LANES && whole; lane++) {
    if (low[lane] < told->lowest) told->lowest = low[lane];
    if (high[lane] > told->highest) told->highest = high[lane];
  }
  one_by_one(values + whole, count - whole, told);
  return 1;
}

static inline float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Half precision: the bits in their place as a float are 2^112 too small; the largest exponent stands for Inf and NaN. */
static void halves(const uint16_t *from, float *into, int64_t count) {
  for (int64_t n = 0; n < count; n++) {
    uint32_t size = (uint32_t)(from[n] & 0x7fff) << 13, sign = (uint32_t)(from[n] & 0x8000) << 16;
    float value = as_float(size) * 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits |= size >= 0x0f800000u ? 0x7f800000u : 0;
    into[n] = as_float(bits | sign);
  }
}

static void brain_halves(const uint16_t *from, float *into, int64_t count) {
  for (int64_t n = 0; n < count; n++) into[n] = as_float((uint32_t)from[n] << 16);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WITH_AVX __attribute__((target("avx2,fma,f16c")))

struct running {
  __m256 low, high;
  __m256i zeros;
  __m256d first, second;
};

WITH_AVX static inline void eight_more(__m256 here, struct running *now) {
  __m256d one = _mm256_cvtps_pd(_mm256_castps256_ps128(here)), other = _mm256_cvtps_pd(_mm256_extractf128_ps(here, 1));
  now->low = _mm256_min_ps(now->low, here);
  now->high = _mm256_max_ps(now->high, here);
  now->zeros =
      _mm256_sub_epi32(now->zeros, _mm256_castps_si256(_mm256_cmp_ps(here, _mm256_setzero_ps(), _CMP_EQ_OQ)));
  now->first = _mm256_fmadd_pd(one, one, now->first);
  now->second = _mm256_fmadd_pd(other, other, now->second);
}

WITH_AVX static inline __m128i sixteen_bytes(const uint8_t *data) { return _mm_loadu_si128((const __m128i *)data); }

/* The squares of eight numbers, which stand in the upper halves of as many words. */
WITH_AVX static inline void eight_squares(__m256i words, __m256d *first, __m256d *second) {
  __m256 here = _mm256_castsi256_ps(words);
  __m256d one = _mm256_cvtps_pd(_mm256_castps256_ps128(here)), other = _mm256_cvtps_pd(_mm256_extractf128_ps(here, 1));
  *first = _mm256_fmadd_pd(one, one, *first);
  *second = _mm256_fmadd_pd(other, other, *second);
}

/* The same as `eight_at_a_time` for bfloat16. Range and zeros are told by the bits, sixteen at a time: as signed
   integers the highest is the largest number unless all are negative, as unsigned ones it is the lowest unless none is.
   Where all have one sign, 0 is returned and the others do it. */
WITH_AVX static int64_t sixteen_at_a_time(const uint8_t *data, int64_t count, struct measure *told) {
  const __m256i upper = _mm256_set1_epi32((int32_t)0xffff0000u), size = _mm256_set1_epi16(0x7fff);
  __m256i highest = _mm256_set1_epi16(INT16_MIN), lowest = _mm256_setzero_si256(), zeros = _mm256_setzero_si256();
  __m256d sums[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};
  int64_t whole = count - count % 16;
  for (int64_t n = 0; n < whole; n += 16) {
    __m256i here = _mm256_loadu_si256((const __m256i *)(data + 2 * n));
    highest = _mm256_max_epi16(highest, here);
    lowest = _mm256_max_epu16(lowest, here);
    zeros = _mm256_sub_epi16(zeros, _mm256_cmpeq_epi16(_mm256_and_si256(here, size), _mm256_setzero_si256()));
    eight_squares(_mm256_slli_epi32(here, 16), &sums[0], &sums[1]);
    eight_squares(_mm256_and_si256(here, upper), &sums[2], &sums[3]);
  }
  double parts[4], squares = 0;
  int16_t highs[16], many[16], high = INT16_MIN;
  uint16_t lows[16], low = 0;
  _mm256_storeu_pd(parts, _mm256_add_pd(_mm256_add_pd(sums[0], sums[1]), _mm256_add_pd(sums[2], sums[3])));
  _mm256_storeu_si256((__m256i *)highs, highest);
  _mm256_storeu_si256((__m256i *)lows, lowest);
  _mm256_storeu_si256((__m256i *)many, zeros);
  for (int lane = 0; lane < 4; lane++) squares += parts[lane];
  for (int lane = 0; lane < 16; lane++) {
    high = highs[lane] > high ? highs[lane] : high;
    low = lows[lane] > low ? lows[lane] : low;
  }
  if (!isfinite(squares) || high < 0 || low < 0x8000) return 0;
  double top = as_float((uint32_t)high << 16), bottom = as_float((uint32_t)low << 16);
  for (int lane = 0; lane < 16; lane++) told->zeros += many[lane];
  told->squares += squares;
  if (bottom < told->lowest) told->lowest = bottom;
  if (top > told->highest) told->highest = top;
  return whole;
}

WITH_AVX static inline __m256 widened(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/* The same as `several`, from any kind; the last numbers, fewer than sixteen, are left, and their place is returned. */
WITH_AVX static int64_t eight_at_a_time(const uint8_t *data, int64_t count, int32_t kind, struct measure *told) {
  if (kind == 3) {
    int64_t done = sixteen_at_a_time(data, count, told);
    if (done) return done;
  }
  struct running now = {_mm256_set1_ps(INFINITY), _mm256_set1_ps(-INFINITY), _mm256_setzero_si256(),
                        _mm256_setzero_pd(), _mm256_setzero_pd()};
  struct running also = now; /* two at once: neither waits for the other's sums */
  int64_t whole = count - count % 16;
  if (kind == 4)
    for (int64_t n = 0; n < whole; n += 16) {
      eight_more(_mm256_loadu_ps((const float *)data + n), &now);
      eight_more(_mm256_loadu_ps((const float *)data + n + 8), &also);
    }
  else if (kind == 2)
    for (int64_t n = 0; n < whole; n += 16) {
      eight_more(_mm256_cvtph_ps(sixteen_bytes(data + 2 * n)), &now);
      eight_more(_mm256_cvtph_ps(sixteen_bytes(data + 2 * n + 16)), &also);
    }
  else
    for (int64_t n = 0; n < whole; n += 16) {
      eight_more(widened(sixteen_bytes(data + 2 * n)), &now);
      eight_more(widened(sixteen_bytes(data + 2 * n + 16)), &also);
    }
  now.low = _mm256_min_ps(now.low, also.low);
  now.high = _mm256_max_ps(now.high, also.high);
  now.zeros = _mm256_add_epi32(now.zeros, also.zeros);
  now.first = _mm256_add_pd(now.first, also.first);
  now.second = _mm256_add_pd(now.second, also.second);
  double sums[4], low = INFINITY, high = -INFINITY, squares = 0;
  float lows[8], highs[8];
  int32_t zeros[8];
  _mm256_storeu_pd(sums, _mm256_add_pd(now.first, now.second));
  _mm256_storeu_ps(lows, now.low);
  _mm256_storeu_ps(highs, now.high);
  _mm256_storeu_si256((__m256i *)zeros, now.zeros);
  for (int lane = 0; lane < 4; lane++) squares += sums[lane];
  if (!isfinite(squares)) return 0;
  told->squares += squares;
  for (int lane = 0; lane < 8; lane++) {
    told->zeros += zeros[lane];
    low = lows[lane] < low ? lows[lane] : low;
    high = highs[lane] > high ? highs[lane] : high;
  }
  if (low < told->lowest) told->lowest = low;
  if (high > told->highest) told->highest = high;
  return whole;
}

static int has_avx(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
#else
static int64_t eight_at_a_time(const uint8_t *data, int64_t count, int32_t kind, struct measure *told) {
  (void)data, (void)count, (void)kind, (void)told;
  return 0;
}
static int has_avx(void) { return 0; }
#endif

/* Add what so many stored numbers tell; `kind` is 4 for float, 2 for half precision, 3 for bfloat16. */
EXPORT void traindx_measure(const uint8_t *data, int64_t count, int32_t kind, struct measure *told) {
  float piece[PIECE];
  int fast = has_avx(), width = kind == 4 ? 4 : 2;
  for (int64_t begin = 0; begin < count; begin += PIECE) {
    int64_t many = count - begin < PIECE ? count - begin : PIECE;
    const uint8_t *here = data + begin * width;
    int64_t done = fast ? eight_at_a_time(here, many, kind, told) : 0;
    if (done == many) continue;
    here += done * width;
    many -= done;
    const float *values = (const float *)here;
    if (kind != 4) {
      (kind == 2 ? halves : brain_halves)((const uint16_t *)here, piece, many);
      values = piece;
    }
    if (done || !several(values, many, told)) one_by_one(values, many, told);
  }
}
