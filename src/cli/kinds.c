/* kinds.c - objects that are selected by name and have options of their own: methods, by --method,
 * and simulations, by the first operand. */
#include "cli/cli.h"

#include <string.h>

size_t vxs_kinds_of(int place, vxs_kind kinds[VXS_MAX_KINDS])
{
    size_t count = 0;
    for (const vxs_method *m = vxs_methods;
         place == VXS_OF_METHOD && m->name && count < VXS_MAX_KINDS; m++)
        kinds[count++] = (vxs_kind){ m->name, m->summary, m->params };
    for (const vxs_simulation *s = vxs_simulations;
         place == VXS_OF_MODEL && s->name && count < VXS_MAX_KINDS; s++)
        kinds[count++] = (vxs_kind){ s->name, s->summary, s->params };
    return count;
}

const vxs_param *vxs_kind_param(const vxs_kind *kind, const char *name)
{
    for (const vxs_param *p = kind->params; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Adds each option name once, from the first kind that has it. */
size_t vxs_kinds_add(int place, vxs_option *options, size_t count)
{
    vxs_kind kinds[VXS_MAX_KINDS];
    size_t all = vxs_kinds_of(place, kinds);
    for (size_t k = 0; k < all; k++)
        for (const vxs_param *p = kinds[k].params; p->name && count < VXS_MAX_OPTIONS; p++) {
            bool seen = false;
            for (size_t before = 0; before < k; before++)
                seen = seen || vxs_kind_param(&kinds[before], p->name);
            if (!seen)
                options[count++] = (vxs_option){ p, place };
        }
    return count;
}

/* ---- In words -------------------------------------------------------------------------------- */

static void add(char *buffer, size_t size, const char *text)
{
    strncat(buffer, text, size - strlen(buffer) - 1);
}

/* Separator of the texts of two kinds: sentences end with a full stop, phrases do not. */
static const char *separator(const char *before)
{
    size_t length = strlen(before);
    return length == 0 ? "" : before[length - 1] == '.' ? " " : "; ";
}

static void add_names(char *buffer, size_t size, const vxs_kind *kinds, const bool *named,
                      size_t count)
{
    const char *before = "";
    for (size_t k = 0; k < count; k++) {
        if (!named[k])
            continue;
        add(buffer, size, before);
        add(buffer, size, kinds[k].name);
        before = ", ";
    }
}

/* Marks the kinds whose row has the same words as that of kind `first`; returns their number. */
static size_t mark_equal(const vxs_kind *kinds, size_t count, size_t first, const char *name,
                         bool *same, bool *done)
{
    char words[VXS_WORDS_SIZE], others[VXS_WORDS_SIZE];
    size_t found = 0;
    vxs_param_words(vxs_kind_param(&kinds[first], name), words, sizeof(words));
    for (size_t k = 0; k < count; k++) {
        const vxs_param *p = vxs_kind_param(&kinds[k], name);
        if (p)
            vxs_param_words(p, others, sizeof(others));
        same[k] = p && strcmp(words, others) == 0;
        done[k] = done[k] || same[k];
        found += same[k];
    }
    return found;
}

/* Formats "phrase (default 1)", "phrase (only of a)", "phrase (not of a)", or "a, b: phrase; c:
 * phrase". */
void vxs_kinds_words(int place, const char *name, char *buffer, size_t size)
{
    vxs_kind kinds[VXS_MAX_KINDS];
    bool same[VXS_MAX_KINDS], done[VXS_MAX_KINDS] = { false };
    size_t count = vxs_kinds_of(place, kinds), with = 0;
    char words[VXS_WORDS_SIZE];
    *buffer = '\0';
    for (size_t k = 0; k < count; k++)
        with += vxs_kind_param(&kinds[k], name) != NULL;
    for (size_t k = 0; k < count; k++) {
        const vxs_param *p = vxs_kind_param(&kinds[k], name);
        if (!p || done[k])
            continue;
        size_t found = mark_equal(kinds, count, k, name, same, done);
        vxs_param_words(p, words, sizeof(words));
        if (found < with) { /* rows differ between kinds */
            add(buffer, size, separator(buffer));
            add_names(buffer, size, kinds, same, count);
            add(buffer, size, ": ");
            add(buffer, size, words);
            continue;
        }
        add(buffer, size, words);
        if (with == count)
            return;
        bool few = with <= count / 2;
        for (size_t j = 0; j < count; j++)
            same[j] = same[j] == few;
        add(buffer, size, few ? " (only of " : " (not of ");
        add_names(buffer, size, kinds, same, count);
        add(buffer, size, ")");
    }
}
