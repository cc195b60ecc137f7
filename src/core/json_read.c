/* json_read.c - strict RFC 8259 parser; the tree is one document. */
#include "core/file.h"
#include "core/utf8.h"
#include "voxsift/internal/files.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_PER_BLOCK 128

typedef struct block {
    struct block *next;
    size_t used;
    vxs_json nodes[NODES_PER_BLOCK];
} block;

/* The root comes first, so that a pointer to it is a pointer to the document. */
typedef struct {
    vxs_json root;
    char *text; /* texts are unescaped in place, which never lengthens them */
    block *blocks;
} document;

typedef struct {
    document *doc;
    char *at, *end;
    const char *line_start;
    size_t line;
    const char *name;
    int depth;
    vxs_error *err;
} parser;

static vxs_status refuse(parser *p, const char *why)
{
    return vxs_fail(p->err, VXS_BAD_DATA, "cannot read '%s': line %zu, column %zu: %s", p->name,
                    p->line, (size_t)(p->at - p->line_start) + 1, why);
}

static vxs_json *new_node(parser *p)
{
    block *b = p->doc->blocks;
    if (!b || b->used == NODES_PER_BLOCK) {
        b = vxs_alloc(1, sizeof(*b), p->err);
        if (!b)
            return NULL;
        b->next = p->doc->blocks;
        p->doc->blocks = b;
    }
    return &b->nodes[b->used++];
}

/* The only function that accepts line ends, so it counts lines. */
static void skip_blanks(parser *p)
{
    while (p->at < p->end && *p->at && strchr(" \t\r\n", *p->at)) {
        if (*p->at++ == '\n') {
            p->line++;
            p->line_start = p->at;
        }
    }
}

static bool take(parser *p, char c)
{
    if (p->at >= p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bool hex_number(parser *p, unsigned long *code)
{
    char digits[5] = "";
    if (p->end - p->at < 4)
        return false;
    memcpy(digits, p->at, 4);
    if (strspn(digits, "0123456789abcdefABCDEF") != 4)
        return false;
    *code = strtoul(digits, NULL, 16);
    p->at += 4;
    return true;
}

/* After "\u": one character, of two surrogates if needed. */
static vxs_status read_code(parser *p, char **out)
{
    unsigned long code = 0, low = 0;
    if (!hex_number(p, &code))
        return refuse(p, "four hexadecimal digits must follow \\u");
    if (code >= 0xdc00 && code < 0xe000)
        return refuse(p, "a low surrogate is unpaired");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!take_word(p, "\\u") || !hex_number(p, &low) || low < 0xdc00 || low >= 0xe000)
            return refuse(p, "a high surrogate is unpaired");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *out += vxs_utf8_write(*out, code);
    return VXS_OK;
}

static vxs_status read_escape(parser *p, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (p->at >= p->end)
        return refuse(p, "the text does not end");
    char c = *p->at;
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) {
        p->at++;
        *(*out)++ = meanings[found - letters];
        return VXS_OK;
    }
    if (c != 'u')
        return refuse(p, "unknown escape");
    p->at++;
    return read_code(p, out);
}

/* After the opening quote. Output never overtakes input, and the closing quote leaves room for the
 * zero. */
static vxs_status read_text(parser *p, const char **text, size_t *length)
{
    char *out = p->at;
    *text = out;
    while (p->at < p->end && *p->at != '"') {
        size_t bytes = vxs_utf8_length(p->at, (size_t)(p->end - p->at));
        if (bytes == 0)
            return refuse(p, "this is not UTF-8");
        if ((unsigned char)*p->at < 0x20)
            return refuse(p, "control characters must be escaped");
        if (take(p, '\\')) {
            vxs_status status = read_escape(p, &out);
            if (status)
                return status;
            continue;
        }
        memmove(out, p->at, bytes);
        out += bytes;
        p->at += bytes;
    }
    if (!take(p, '"'))
        return refuse(p, "the text does not end");
    *length = (size_t)(out - *text);
    *out = '\0';
    return VXS_OK;
}

static size_t count_digits(const char *c)
{
    size_t n = 0;
    while (isdigit((unsigned char)c[n]))
        n++;
    return n;
}

/* Length of the number by the grammar (no leading zeros, no bare point), 0 if invalid. The text is
 * zero-terminated, so reading one character ahead is safe. */
static size_t number_length(const char *start)
{
    const char *c = start + (*start == '-');
    size_t whole = count_digits(c);
    if (whole == 0 || (whole > 1 && *c == '0'))
        return 0;
    c += whole;
    if (*c == '.') {
        size_t fraction = count_digits(c + 1);
        if (fraction == 0)
            return 0;
        c += 1 + fraction;
    }
    if (*c == 'e' || *c == 'E') {
        c += 1 + (c[1] == '+' || c[1] == '-');
        size_t exponent = count_digits(c);
        if (exponent == 0)
            return 0;
        c += exponent;
    }
    return (size_t)(c - start);
}

static vxs_status read_number(parser *p, vxs_json *value)
{
    size_t length = number_length(p->at);
    if (length == 0)
        return refuse(p, "a value is expected here");
    char after = p->at[length];
    p->at[length] = '\0';
    bool fits = vxs_parse_real(p->at, &value->number);
    p->at[length] = after;
    if (!fits)
        return refuse(p, "this number is too large");
    value->kind = VXS_JSON_NUMBER;
    p->at += length;
    return VXS_OK;
}

static int by_key(const void *a, const void *b)
{
    const vxs_json *const *left = a, *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

static vxs_status check_keys(parser *p, const vxs_json *object)
{
    vxs_status status = VXS_OK;
    const vxs_json **members = vxs_alloc(object->length, sizeof(*members), p->err);
    if (!members)
        return VXS_FAILED;
    size_t n = 0;
    for (const vxs_json *m = object->first; m; m = m->next)
        members[n++] = m;
    qsort(members, n, sizeof(*members), by_key);
    for (size_t i = 1; i < n && !status; i++)
        if (strcmp(members[i - 1]->key, members[i]->key) == 0)
            status = refuse(p, "a duplicate key is in the object that ends here");
    free(members);
    return status;
}

static vxs_status read_value(parser *p, vxs_json *value);

static vxs_status read_key(parser *p, vxs_json *member)
{
    size_t length = 0;
    if (!take(p, '"'))
        return refuse(p, "a quoted key is expected here");
    vxs_status status = read_text(p, &member->key, &length);
    if (!status && strlen(member->key) != length)
        status = refuse(p, "a key holds a zero byte");
    skip_blanks(p);
    if (!status && !take(p, ':'))
        status = refuse(p, "a colon is expected here");
    skip_blanks(p);
    return status;
}

static vxs_status read_member(parser *p, vxs_json *parent, vxs_json **member)
{
    vxs_json *made = new_node(p);
    if (!made)
        return VXS_FAILED;
    *member = made;
    parent->length++;
    vxs_status status = parent->kind == VXS_JSON_OBJECT ? read_key(p, made) : VXS_OK;
    return status ? status : read_value(p, made);
}

/* After the opening bracket. */
static vxs_status read_members(parser *p, vxs_json *parent, char close)
{
    vxs_status status = VXS_OK;
    vxs_json **slot = &parent->first;
    skip_blanks(p);
    if (take(p, close))
        return VXS_OK;
    do {
        skip_blanks(p);
        status = read_member(p, parent, slot);
        if (status)
            return status;
        slot = &(*slot)->next;
        skip_blanks(p);
    } while (take(p, ','));
    if (!take(p, close))
        return refuse(p, close == '}' ? "a comma or } is expected here"
                                      : "a comma or ] is expected here");
    return parent->kind == VXS_JSON_OBJECT ? check_keys(p, parent) : VXS_OK;
}

static vxs_status read_container(parser *p, vxs_json *value, char close)
{
    if (p->depth >= VXS_JSON_DEPTH)
        return refuse(p, "nested too deeply");
    p->depth++;
    vxs_status status = read_members(p, value, close);
    p->depth--;
    return status;
}

static vxs_status read_value(parser *p, vxs_json *value)
{
    if (take(p, '{')) {
        value->kind = VXS_JSON_OBJECT;
        return read_container(p, value, '}');
    }
    if (take(p, '[')) {
        value->kind = VXS_JSON_ARRAY;
        return read_container(p, value, ']');
    }
    if (take(p, '"')) {
        value->kind = VXS_JSON_TEXT;
        return read_text(p, &value->text, &value->length);
    }
    if (take_word(p, "null"))
        return VXS_OK;
    bool truth = take_word(p, "true");
    if (truth || take_word(p, "false")) {
        value->kind = VXS_JSON_BOOL;
        value->number = truth;
        return VXS_OK;
    }
    return read_number(p, value);
}

vxs_status vxs_json_parse(const char *bytes, size_t length, const char *name, vxs_json **root,
                          vxs_error *err)
{
    document *doc = vxs_alloc(1, sizeof(*doc), err);
    if (!doc)
        return VXS_FAILED;
    vxs_status status = VXS_FAILED;
    doc->text = vxs_alloc(length + 1, 1, err);
    if (!doc->text)
        goto done;
    memcpy(doc->text, bytes, length);
    parser p = { .doc = doc,
                 .at = doc->text,
                 .end = doc->text + length,
                 .line_start = doc->text,
                 .line = 1,
                 .name = name,
                 .err = err };
    take_word(&p, "\xef\xbb\xbf");
    skip_blanks(&p);
    status = read_value(&p, &doc->root);
    skip_blanks(&p);
    if (!status && p.at != p.end)
        status = refuse(&p, "something follows the value");
    if (!status) {
        *root = &doc->root;
        doc = NULL;
    }
done:
    vxs_json_free((vxs_json *)doc);
    return status;
}

vxs_status vxs_json_read(const char *path, vxs_json **root, vxs_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    vxs_status status = vxs_file_neighbors(path, err);
    if (!status)
        status = vxs_file_read(path, &bytes, &length, err);
    if (!status)
        status = vxs_json_parse(bytes, length, path, root, err);
    free(bytes);
    return status;
}

const vxs_json *vxs_json_get(const vxs_json *object, const char *key)
{
    if (!object || object->kind != VXS_JSON_OBJECT)
        return NULL;
    for (const vxs_json *m = object->first; m; m = m->next)
        if (strcmp(m->key, key) == 0)
            return m;
    return NULL;
}

const char *vxs_json_get_text(const vxs_json *object, const char *key)
{
    const vxs_json *value = vxs_json_get(object, key);
    return value && value->kind == VXS_JSON_TEXT ? value->text : NULL;
}

double vxs_json_get_number(const vxs_json *object, const char *key)
{
    const vxs_json *value = vxs_json_get(object, key);
    return value && value->kind == VXS_JSON_NUMBER ? value->number : NAN;
}

void vxs_json_free(vxs_json *root)
{
    document *doc = (document *)root;
    if (!doc)
        return;
    while (doc->blocks) {
        block *next = doc->blocks->next;
        free(doc->blocks);
        doc->blocks = next;
    }
    free(doc->text);
    free(doc);
}
