/* Which lines of a block are of a form that is not known yet. A form is a line without regard to its digits.

   Known forms are a table of hashes, so that a log of few forms is gone through at the speed of reading it. Where two
   forms have one hash, which of 64 bits few ever do, the second passes for the first. */

#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static inline uint64_t without_digits(uint64_t word) {
  uint64_t from_nought = word ^ 0x3030303030303030u;
  uint64_t other = (((from_nought & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | from_nought) & 0x8080808080808080u;
  return word & (other >> 7) * 255;
}

static inline uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25u;
  return hash ^ hash >> 32;
}

static uint64_t hash_of(const uint8_t *at, int64_t size, uint64_t seed) {
  uint64_t hash = mixed(seed, (uint64_t)size), word;
  for (; size >= 8; at += 8, size -= 8) {
    memcpy(&word, at, 8);
    hash = mixed(hash, without_digits(word));
  }
  if (size) {
    word = 0;
    memcpy(&word, at, (size_t)size);
    hash = mixed(hash, without_digits(word));
  }
  hash = mixed(hash, seed);
  return hash ? hash : 1;
}

/* Numbers (from 0), begins, ends and hashes of such lines; how many there are. The table has `mask` + 1 places, of
   which some are 0. There is room for as many lines as the block has line feeds, and one more. */
EXPORT int64_t traindx_new_forms(const uint8_t *data, int64_t size, const uint64_t *table, int64_t mask, uint64_t seed,
                                 int64_t *numbers, int64_t *begins, int64_t *ends, uint64_t *hashes) {
  int64_t found = 0, number = 0;
  for (int64_t begin = 0, end; begin < size; begin = end + 1, number++) {
    const uint8_t *feed = memchr(data + begin, '\n', (size_t)(size - begin));
    end = feed ? feed - data : size;
    uint64_t hash = hash_of(data + begin, end - begin, seed);
    int64_t place = (int64_t)hash & mask;
    while (table[place] && table[place] != hash) place = (place + 1) & mask;
    if (table[place]) continue;
    numbers[found] = number;
    begins[found] = begin;
    ends[found] = end;
    hashes[found++] = hash;
  }
  return found;
}

/* Make forms known; how many of them were not. */
EXPORT int64_t traindx_know_forms(uint64_t *table, int64_t mask, const uint64_t *hashes, int64_t count) {
  int64_t fresh = 0;
  for (int64_t n = 0; n < count; n++) {
    int64_t place = (int64_t)hashes[n] & mask;
    while (table[place] && table[place] != hashes[n]) place = (place + 1) & mask;
    fresh += !table[place];
    table[place] = hashes[n];
  }
  return fresh;
}

/* Where the first line, after the first one, begins whose first bytes are allowed: `allowed` holds 256 flags for each of
   them. -1 where there is none. */
EXPORT int64_t traindx_line_like(const uint8_t *data, int64_t size, const uint8_t *allowed, int64_t count) {
  const uint8_t *end = data + size - count, *at = data;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
    int64_t right = 0;
    at++;
    while (right < count && allowed[256 * right + at[right]]) right++;
    if (right == count) return at - data;
  }
  return -1;
}
