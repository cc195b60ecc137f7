#include "tests/core/check.h"
#include "tests/core/faults.h"

static vxs_status parse(const char *text, vxs_json **root, vxs_error *err)
{
    return vxs_json_parse(text, strlen(text), "x.json", root, err);
}

static void write_value(vxs_json_writer *w, const char *key, const vxs_json *v)
{
    switch (v->kind) {
    case VXS_JSON_NULL:
        vxs_json_text(w, key, NULL);
        break;
    case VXS_JSON_BOOL:
        vxs_json_bool(w, key, v->number != 0);
        break;
    case VXS_JSON_NUMBER:
        vxs_json_real(w, key, v->number);
        break;
    case VXS_JSON_TEXT:
        vxs_json_text(w, key, v->text);
        break;
    case VXS_JSON_ARRAY:
        vxs_json_open_array(w, key);
        for (const vxs_json *m = v->first; m; m = m->next)
            write_value(w, NULL, m);
        vxs_json_close_array(w);
        break;
    case VXS_JSON_OBJECT:
        vxs_json_open_object(w, key);
        for (const vxs_json *m = v->first; m; m = m->next)
            write_value(w, m->key, m);
        vxs_json_close_object(w);
        break;
    }
}

static void write_tree(FILE *stream, void *root)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, stream);
    write_value(&writer, NULL, root);
}

static const char sample[] =
    "\xef\xbb\xbf { \"a\" : [1, -2.5e3, 0, [], {}, [[3]]], \"t\":\"q\\\"\\\\\\/\\b\\f\\n\\r\\t"
    "\\u00fc\\ud83e\\udde0 \xc3\xa9\", \"n\":null, \"y\":true, \"z\":false, \"\":\"\" } ";

Test(json, reads_what_the_standard_allows)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    WORKS(parse(sample, &root, &err), err);
    const vxs_json *a = vxs_json_get(root, "a");
    cr_assert(root->kind == VXS_JSON_OBJECT && root->length == 6 && a->length == 6);
    cr_assert(a->first->number == 1 && a->first->next->number == -2500);
    cr_assert_str_eq(vxs_json_get(root, "t")->text,
                     "q\"\\/\b\f\n\r\t\xc3\xbc\xf0\x9f\xa7\xa0 \xc3\xa9");
    cr_assert(vxs_json_get(root, "y")->number == 1 && vxs_json_get(root, "z")->number == 0);
    cr_assert(vxs_json_get(root, "")->length == 0);
    cr_assert_null(vxs_json_get(root, "b"));
    cr_assert_null(vxs_json_get(a, "a"));
    cr_assert_null(vxs_json_get(NULL, "a"));
    vxs_json_free(root);
    vxs_json_free(NULL);
}

Test(json, writing_and_reading_are_inverse)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL, *again = NULL;
    WORKS(parse(sample, &root, &err), err);
    char *once = printed(write_tree, root);
    WORKS(parse(once, &again, &err), err);
    char *twice = printed(write_tree, again);
    cr_assert_str_eq(once, twice);
    vxs_json_free(root);
    vxs_json_free(again);
    free(once);
    free(twice);
}

Test(json, refuses_the_rest_with_line_and_column)
{
    static const char *const rows[][2] = {
        { "", "line 1, column 1: a value is expected here" },
        { "{", "a quoted key" },
        { "[1,]", "line 1, column 4: a value is expected here" },
        { "{\"a\":1,}", "a quoted key" },
        { "{\"a\" 1}", "a colon" },
        { "{a:1}", "a quoted key" },
        { "[1 2]", "a comma or ] is expected here" },
        { "{\n \"a\": 1\n \"b\": 2}", "line 3, column 2: a comma or }" },
        { "[\"a\\n\",\n  tru]", "line 2, column 3" },
        { "01", "a value is" },
        { "1.", "a value is" },
        { ".5", "a value is" },
        { "+1", "a value is" },
        { "1e", "a value is" },
        { "-", "a value is" },
        { "NaN", "a value is" },
        { "Infinity", "a value is" },
        { "1e999", "too large" },
        { "\"abc", "does not end" },
        { "\"a\\", "does not end" },
        { "\"\\x\"", "unknown escape" },
        { "\"\\u12g4\"", "four hexadecimal digits" },
        { "\"\\ud800\"", "high surrogate" },
        { "\"\\ud800\\u0041\"", "high surrogate" },
        { "\"\\udc00\"", "low surrogate" },
        { "\"a\nb\"", "control characters" },
        { "\"\xff\"", "not UTF-8" },
        { "\"\xc0\xaf\"", "not UTF-8" },
        { "\"\xed\xa0\x80\"", "not UTF-8" },
        { "\"\xf4\x90\x80\x80\"", "not UTF-8" },
        { "{\"a\":1,\"b\":2,\"a\":3}", "a duplicate key" },
        { "{\"\\u0000\":1}", "zero byte" },
        { "1 2", "something follows" },
        { "nul", "a value is" },
    };
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REFUSES(parse(rows[i][0], &root, &err), err, VXS_BAD_DATA, rows[i][1]);
        cr_assert_null(root, "%s", rows[i][0]);
    }
    REFUSES(vxs_json_parse("[1]\0", 4, "x", &root, &err), err, VXS_BAD_DATA, "something follows");
}

Test(json, many_containers_are_not_deep_ones)
{
    char text[1024] = "[0";
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    for (int k = 0; k < 200; k++)
        strcat(text, ",[]");
    strcat(text, "]");
    WORKS(parse(text, &root, &err), err);
    cr_assert(root->length == 201);
    vxs_json_free(root);
}

static void nest(FILE *stream, void *data)
{
    vxs_json_writer w;
    (void)data;
    vxs_json_init(&w, stream);
    for (int k = 0; k < 200; k++)
        vxs_json_open_array(&w, NULL);
    for (int k = 0; k < 200; k++)
        vxs_json_close_array(&w);
}

Test(json, the_writer_survives_any_depth)
{
    char *text = printed(nest, NULL);
    size_t open = 0, close = 0;
    for (const char *c = text; *c; c++) {
        open += *c == '[';
        close += *c == ']';
    }
    cr_assert(open == 200 && close == 200);
    free(text);
}

Test(json, depth_is_limited)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    char text[200001];
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    text[200000] = '\0';
    REFUSES(parse(text, &root, &err), err, VXS_BAD_DATA, "nested too deeply");
    WORKS(vxs_json_parse(text + 100000 - VXS_JSON_DEPTH, 2 * VXS_JSON_DEPTH, "x", &root, &err),
          err);
    vxs_json_free(root);
}

static void write_oddities(FILE *stream, void *data)
{
    (void)data;
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_array(&w, NULL);
    vxs_json_real(&w, NULL, NAN);
    vxs_json_real(&w, NULL, -INFINITY);
    vxs_json_whole(&w, NULL, INT64_MIN);
    vxs_json_text(&w, NULL, "bad\xff\x01");
    vxs_json_close_array(&w);
}

Test(json, what_json_cannot_say_becomes_null_or_a_mark)
{
    char *text = printed(write_oddities, NULL);
    cr_assert_str_eq(text, "[null, null, -9223372036854775808, \"bad\xef\xbf\xbd\\u0001\"]\n");
    free(text);
}

static vxs_status parse_sample(vxs_error *err)
{
    vxs_json *root = NULL;
    vxs_status status = parse(sample, &root, err);
    vxs_json_free(root);
    return status;
}

Test(json, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(parse_sample) >= 4);
}

Test(json, files_that_are_not_there)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    REFUSES(vxs_json_read("/nowhere.json", &root, &err), err, VXS_MISSING, "/nowhere.json");
}

static void write_hidden(FILE *stream, void *text)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_text(&w, NULL, text);
}

/* What a terminal would obey is escaped, and comes back as it was. */
Test(json, what_must_not_be_shown_is_escaped)
{
    char text[] = "\x1b[1m\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\xc3\xa9";
    const char *wanted = "\"\\u001b[1m\\u007f\\u009b\\u202e\\udb40\\udc41\xc3\xa9\"";
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    char *got = printed(write_hidden, text);
    cr_assert_str_eq(got, wanted, "%s", got);
    WORKS(vxs_json_parse(got, strlen(got), "x", &root, &err), err);
    cr_assert_str_eq(root->text, text);
    vxs_json_free(root);
    free(got);
}
