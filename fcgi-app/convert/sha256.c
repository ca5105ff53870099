#include "fcgi-app/convert/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

static const uint32_t constants[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

static void expand(const uint8_t block[BLOCK], uint32_t words[BLOCK])
{
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < BLOCK; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];

        words[i] = words[i - 16] + words[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t state[8], const uint8_t block[BLOCK])
{
    uint32_t words[BLOCK], now[8];

    expand(block, words);
    memcpy(now, state, sizeof now);
    for (int i = 0; i < BLOCK; i++) {
        uint32_t a = now[0], e = now[4];
        uint32_t one = now[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                       ((e & now[5]) ^ (~e & now[6])) + constants[i] + words[i];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                       ((a & now[1]) ^ (a & now[2]) ^ (now[1] & now[2]));

        memmove(now + 1, now, 7 * sizeof *now);
        now[4] += one;
        now[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += now[i];
}

/* The rest of the bytes, a 1 bit and the length in bits: one or two blocks. */
static void add_last(uint32_t state[8], const char *rest, size_t rest_len, uint64_t bits)
{
    uint8_t last[2 * BLOCK] = {0};
    size_t len = rest_len < LENGTH_AT ? BLOCK : 2 * BLOCK;

    memcpy(last, rest, rest_len);
    last[rest_len] = 0x80;
    for (int i = 0; i < 8; i++)
        last[len - 1 - (size_t)i] = (uint8_t)(bits >> (8 * i));
    for (size_t at = 0; at < len; at += BLOCK)
        add_block(state, last + at);
}

void tg_name_hash(struct tg_span bytes, char ret[TG_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t at = 0;

    for (; bytes.len - at >= BLOCK; at += BLOCK)
        add_block(state, (const uint8_t *)bytes.ptr + at);
    add_last(state, bytes.len > at ? bytes.ptr + at : "", bytes.len - at, (uint64_t)bytes.len * 8);
    for (int i = 0; i < TG_SHA256_HEX - 1; i++)
        ret[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    ret[TG_SHA256_HEX - 1] = '\0';
}
