/* Numbers as logs and tables spell them by the million, into doubles.

   Nothing here depends on Python: `library.py` loads it through ctypes where the package was built with a compiler, and
   numpy does the same work, slower, where it was not. A value is exact to the last bit or handed back as "hard"; a table that
   is not plain (text, quotes, a row of another width) is refused as a whole and left to the careful reader. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { FIRST_POWER = -290, LAST_POWER = 270, MOST_DIGITS = 19 };

/* What a cell turned out to be. */
enum kind { EMPTY, NUMBER, HARD, REFUSED };

struct decimal {
  uint64_t digits; /* all of them, without the point */
  int64_t power;   /* of ten */
  int negative;
};

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline int is_digit(uint8_t letter) { return (uint8_t)(letter - '0') < 10; }

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const uint64_t WHOLE_TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Up to eight digits at once, without a branch for how many: what follows them is shifted out and zeros come in.
   Neighbours are joined to pairs, pairs to fours, fours to the whole. */
static inline int eight(const uint8_t *at, uint64_t *into) {
  uint64_t word;
  memcpy(&word, at, 8);
  uint64_t low = word - 0x3030303030303030u, other = ((word + 0x4646464646464646u) | low) & 0x8080808080808080u;
  int count = other ? __builtin_ctzll(other) >> 3 : 8;
  if (!count) return 0;
  low = (word - 0x3030303030303030u) << (64 - 8 * count);
  low = low * 10 + (low >> 8);
  low = ((low & 0x000000FF000000FFu) * 0x000F424000000064u + (low >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >> 32;
  *into = *into * WHOLE_TENS[count] + low;
  return count;
}
#else
static inline int eight(const uint8_t *at, uint64_t *into) {
  int count = 0;
  for (; count < 8 && is_digit(at[count]); count++) *into = *into * 10 + (at[count] - '0');
  return count;
}
#endif

static inline const uint8_t *digits(const uint8_t *at, const uint8_t *end, uint64_t *into) {
  while (end - at >= 8) {
    int count = eight(at, into);
    at += count;
    if (count < 8) return at;
  }
  while (is_digit(*at)) *into = *into * 10 + (*at++ - '0');
  return at;
}

/* `digits * 10^power`, correctly rounded, where 64 x 128 bits decide it.

   `powers` holds the leading 128 bits of each power of ten, cut off below. The true product lies less than two units above
   the last bit that is looked at; where that could change the rounding, the value is hard. */
static enum kind scaled(const struct decimal *number, const uint64_t *powers, double *found) {
  if (number->digits < (UINT64_C(1) << 53) && number->power >= -22 && number->power <= 22) {
    double whole = (double)number->digits;
    *found = number->power < 0 ? whole / TENS[-number->power] : whole * TENS[number->power];
    return NUMBER;
  }
  if (number->digits == 0) {
    *found = 0;
    return NUMBER;
  }
  if (number->power < FIRST_POWER || number->power > LAST_POWER) return HARD;
  const uint64_t *power = powers + 2 * (number->power - FIRST_POWER);
  int shift = __builtin_clzll(number->digits);
  uint64_t mantissa = number->digits << shift;
  unsigned __int128 upper = (unsigned __int128)mantissa * power[0], lower = (unsigned __int128)mantissa * power[1];
  upper += (uint64_t)(lower >> 64);
  uint64_t high = (uint64_t)(upper >> 64), low = (uint64_t)upper;
  int narrow = !(high >> 63);
  if (narrow) {
    high = high << 1 | low >> 63;
    low <<= 1;
  }
  uint64_t kept = high >> 11, rest = high & 0x7FF;
  if (low > UINT64_MAX - 4 || (rest == 0x400 && low < 4)) return HARD; /* four: the shift doubles the doubt */
  kept += rest >= 0x400;
  /* 217706 / 2^16 is log2(10), near enough for these powers. */
  int64_t exponent = ((217706 * number->power) >> 16) + 64 - shift - narrow;
  union {
    uint64_t bits;
    double value;
  } rounded;
  /* The leading bit of the mantissa, and a carry out of it, raise the exponent by themselves. */
  rounded.bits = ((uint64_t)(exponent + 1022) << 52) + kept;
  *found = rounded.value;
  return NUMBER;
}

static inline const uint8_t *word(const uint8_t *at, const uint8_t *end, const char *expected) {
  size_t length = strlen(expected);
  if ((size_t)(end - at) < length) return 0;
  for (size_t n = 0; n < length; n++)
    if ((at[n] | 0x20) != (uint8_t)expected[n]) return 0;
  return at + length;
}

static const uint8_t *not_finite(const uint8_t *at, const uint8_t *end, double *found) {
  const uint8_t *after;
  if ((after = word(at, end, "nan"))) {
    *found = NAN;
    return after;
  }
  if ((after = word(at, end, "infinity")) || (after = word(at, end, "inf"))) *found = INFINITY;
  return after;
}

/* The number at `at`; `*after` is the first byte behind it. */
static inline enum kind number(const uint8_t *at, const uint8_t *end, const uint64_t *powers, double *found,
                               const uint8_t **after) {
  struct decimal read = {0, 0, 0};
  const uint8_t *begin = at;
  if (*at == '-' || *at == '+') read.negative = *at++ == '-';
  while (*at == '0') at++;
  const uint8_t *leading = at, *point = 0;
  at = digits(at, end, &read.digits);
  int64_t count = at - leading;
  if (*at == '.') {
    point = ++at;
    if (!count)
      while (*at == '0') at++;
    const uint8_t *significant = at;
    at = digits(at, end, &read.digits);
    count += at - significant;
    read.power = point - at;
  }
  if (at == leading + (point != 0) && (leading == begin || leading[-1] != '0')) {
    if (point || !(at = not_finite(at, end, found))) return REFUSED;
    if (read.negative) *found = -*found;
    *after = at;
    return NUMBER;
  }
  if ((*at | 0x20) == 'e') {
    int64_t raised = 0;
    int down = 0;
    at++;
    if (*at == '-' || *at == '+') down = *at++ == '-';
    if (!is_digit(*at)) return REFUSED;
    while (is_digit(*at)) {
      raised = raised < 100000 ? raised * 10 + (*at - '0') : raised;
      at++;
    }
    read.power += down ? -raised : raised;
  }
  *after = at;
  if (count > MOST_DIGITS) return HARD;
  enum kind kind = scaled(&read, powers, found);
  if (read.negative) *found = -*found;
  return kind;
}

/* Read at most `most` rows of `width` cells from whole lines; -1 when they are not that plain.

   Column by column: `values` and `present` (and where the cells lie, unless `starts` is null) are `width` times `most`.
   `hard` takes three numbers per cell that is hard: its place in `values`, its begin and its end. */
EXPORT int64_t traindx_rows(const uint8_t *data, int64_t size, uint8_t separator, int64_t width, int64_t most,
                            const uint64_t *powers, double *values, uint8_t *present, int32_t *starts, int32_t *ends,
                            int64_t *hard, int64_t most_hard, int64_t *hard_count, int64_t *consumed) {
  const uint8_t *at = data, *end = data + size;
  int64_t row = 0;
  *hard_count = 0;
  for (; row < most && at < end; row++) {
    int some = 0;
    for (int64_t column = 0; column < width; column++) {
      int64_t place = column * most + row;
      double found = NAN;
      enum kind kind = EMPTY;
      while (*at == ' ') at++;
      const uint8_t *begin = at, *after = at;
      if (*at != separator && *at != '\n' && *at != '\r') kind = number(at, end, powers, &found, &after);
      if (kind == REFUSED) return -1;
      at = after;
      if (kind == HARD) {
        if (*hard_count == most_hard) return -1;
        int64_t *told = hard + 3 * (*hard_count)++;
        told[0] = place, told[1] = begin - data, told[2] = at - data;
      }
      values[place] = found;
      present[place] = kind != EMPTY;
      if (starts) starts[place] = (int32_t)(begin - data), ends[place] = (int32_t)(at - data);
      some |= kind != EMPTY;
      while (*at == ' ') at++;
      if (column + 1 < width) {
        if (*at++ != separator) return -1;
      } else {
        if (*at == '\r') at++;
        if (*at++ != '\n') return -1;
      }
    }
    if (!some) return -1;
  }
  *consumed = at - data;
  return row;
}

/* How many lines end in these bytes. */
EXPORT int64_t traindx_lines(const uint8_t *data, int64_t size) {
  int64_t found = 0;
  for (int64_t n = 0; n < size; n++) found += data[n] == '\n';
  return found;
}

/* The numbers between these places; how many are hard, and in `hard` which. The data ends in a byte that no number has. */
EXPORT int64_t traindx_numbers(const uint8_t *data, int64_t size, const int64_t *starts, const int64_t *ends, int64_t count,
                               const uint64_t *powers, double *values, int64_t *hard) {
  int64_t found = 0;
  for (int64_t n = 0; n < count; n++) {
    const uint8_t *after = 0;
    if (number(data + starts[n], data + size, powers, values + n, &after) != NUMBER || after != data + ends[n])
      hard[found++] = n;
  }
  return found;
}
