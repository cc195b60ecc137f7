/* class_rows.c - prints the confusion matrix of three and more classes, with sensitivity, positive
 * predictive value and AUC of each. */
#include "cli/cli.h"

#include <string.h>

#define MOST_COLUMNS 8  /* most columns of a matrix that fits a terminal */
#define MOST_LETTERS 16 /* most characters of a class name */

/* Number of characters of a name, up to MOST_LETTERS, and of their bytes. */
static size_t letters_of(const char *name, size_t *bytes)
{
    size_t letters = 0, k = 0;
    for (; name[k]; k++) {
        bool begins = ((unsigned char)name[k] & 0xC0) != 0x80; /* not a UTF-8 continuation byte */
        if (begins && letters == MOST_LETTERS)
            break;
        letters += begins;
    }
    *bytes = k;
    return letters;
}

/* Writes a name aligned to the right (width > 0) or to the left, counted in characters. */
static void write_name(FILE *out, const char *name, int width, bool left)
{
    size_t bytes, letters = letters_of(name, &bytes);
    int pad = (size_t)width > letters ? width - (int)letters : 0;
    fprintf(out, "%*s%.*s%*s", left ? 0 : pad, "", (int)bytes, name, left ? pad : 0, "");
}

static int width_of(char *const *classes, size_t count)
{
    size_t most = 6, bytes;
    for (size_t k = 0; k < count; k++) {
        size_t letters = letters_of(classes[k], &bytes);
        most = letters > most ? letters : most;
    }
    return (int)most;
}

static void write_header(FILE *out, char *const *classes, size_t columns, int width)
{
    fprintf(out, "%*s", width + 2, "");
    for (size_t c = 0; c < columns; c++) {
        fputs("  ", out);
        write_name(out, classes[c], width, false);
    }
    fprintf(out, "  %8s%13s%8s%8s\n", "n", "sensitivity", "PPV", "AUC");
}

static void write_class(FILE *out, char *const *classes, const vxs_class_scores *s, size_t row,
                        size_t columns, int width)
{
    char number[VXS_REAL_TEXT];
    fputs("  ", out);
    write_name(out, classes[row], width, true);
    for (size_t c = 0; c < columns; c++)
        fprintf(out, "  %*s", width, vxs_short_text(s->confusion[row * s->count + c], number));
    fprintf(out, "  %8s", vxs_short_text(s->n[row], number));
    fprintf(out, "%13s", vxs_score_text(s->sensitivity[row], false, number));
    fprintf(out, "%8s", vxs_score_text(s->ppv[row], false, number));
    fprintf(out, "%8s\n", vxs_score_text(s->auc[row], false, number));
}

void vxs_print_classes(FILE *out, char *const *classes, const vxs_class_scores *s)
{
    size_t columns = s->count <= MOST_COLUMNS ? s->count : 0;
    int width = width_of(classes, s->count);
    if (s->count < 3)
        return;
    fputs(columns > 0 ? "  rows: true class; columns: predicted class; AUC: against the rest\n"
                      : "  each class; AUC: against the rest\n",
          out);
    write_header(out, classes, columns, width);
    for (size_t r = 0; r < s->count; r++)
        write_class(out, classes, s, r, columns, width);
}

void vxs_print_decision(FILE *out, const char *rule)
{
    char text[VXS_METRIC_TEXT];
    const char *words = vxs_decision_words(rule, text);
    if (words)
        fprintf(out, "  threshold of scores: learned in the training subjects, for %s\n", words);
}

void vxs_print_positive(FILE *out, const vxs_task *task)
{
    size_t positive = 0;
    if (task->class_count != 2)
        return;
    for (size_t i = 0; i < task->n; i++)
        positive += task->score[i] == 1;
    fprintf(out, "  positive class: %s (%zu %s%s), against %s (%zu)\n", task->classes[1], positive,
            vxs_row_word(task), vxs_plural(positive), task->classes[0], task->n - positive);
}
