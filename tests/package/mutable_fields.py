# SPDX-License-Identifier: Apache-2.0
"""No class of the app has more than eight data members that can change.

A class with many of them is several ideas, each of which can contradict the others. Counted are the members that each class and
struct of the headers of gui/ declares itself, but for what cannot change after the constructor: constants, references, const
pointers and statics. A widget that a view makes once and keeps is a const pointer.

  python3 mutable_fields.py SOURCE_FOLDER [--list]     fails with one line for each class above the limit
  python3 mutable_fields.py --self-test
"""
import pathlib
import re
import sys

LIMIT = 8
# Values that nothing changes once they are made.
CONSTANT = {
    "Theme": "two constants, a light and a dark look",
    "LiveFrame": "handed on as LiveFramePtr, a pointer to const",
}
NOT_A_FIELD = re.compile(r"^(using|typedef|friend|static|enum|template|public|protected|private|signals|Q_[A-Z_]+)\b")


def without_comments(text):
    text = re.sub(r"R\"\((?:.|\n)*?\)\"|\"(?:\\.|[^\"\\\n])*\"", '""', text)
    return re.sub(r"//[^\n]*|/\*(?:.|\n)*?\*/|^[ \t]*#[^\n]*", "", text, flags=re.MULTILINE)


def matching(text, begin):
    """The end of the braces that begin there."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    raise ValueError("braces do not match")


def classes_in(text):
    """(name, body) of each class and struct, those inside others included."""
    for found in re.finditer(r"\b(?<!enum )(?:class|struct)\s+([A-Za-z_]\w*)(?:\s+final)?\s*(:[^;{()]*)?\{", text):
        yield found[1], text[found.end():matching(text, found.end() - 1)]


def split_at(text, separator):
    """At separators outside of all brackets."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [*parts, part]


def statements_of(body):
    """What stands at the level of the class itself: without bodies of functions and of classes inside it."""
    statement, i = "", 0
    while i < len(body):
        character = body[i]
        if character == "{":
            end = matching(body, i)
            head = re.sub(r"\b(public|protected|private|signals|public slots)\s*:(?!:)|Q_OBJECT|Q_DECLARE_TR_FUNCTIONS\(.*?\)", "", statement).strip()
            # The braces of an initial value belong to a field. After a body nothing of the statement is left, unless a class
            # or an enum without a name of its own declares a field.
            if re.search(r"\)\s*(const|override|noexcept|final|\s)*(:[^:].*)?$", head, flags=re.DOTALL):
                statement = ""
            elif re.match(r"(class|struct|enum|union)\b", head):
                statement = "Type "
            else:
                statement += "{}"
            i = end + 1
            continue
        if character == ";":
            yield statement.strip()
            statement = ""
        else:
            statement += character
        i += 1


def fields_of(body):
    """Names of the members that can change."""
    fields = []
    for statement in statements_of(body):
        statement = re.sub(r"\b(public|protected|private|signals|public slots)\s*:(?!:)", "", statement)
        statement = re.sub(r"\b(Q_OBJECT|Q_DECLARE_TR_FUNCTIONS\(.*?\)|Q_GADGET)", "", statement)
        statement = re.sub(r"\[\[\w+\]\]|\bmutable\b|\balignas\([^)]*\)", "", statement)
        statement = " ".join(statement.split())
        if not statement or statement == "Type" or NOT_A_FIELD.match(statement):
            continue
        if re.match(r"(class|struct|enum)\s+\w+$", statement):
            continue
        declarators = [re.sub(r"(=.*|\{\}.*)$", "", one).strip() for one in split_at(statement, ",")]
        first = declarators[0]
        outside = re.sub(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "<>", first)
        if "(" in outside or "operator" in outside:
            continue
        pointer = re.search(r"([*&]+)\s*(const\s+)?\w+(\[.*)?$", outside)
        type_is_const = re.match(r"(static )?const(expr)?\b", outside) is not None
        for at, declarator in enumerate(declarators):
            plain = re.sub(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "<>", declarator)
            mark = pointer if at == 0 else re.search(r"^([*&]+)\s*(const\s+)?\w+(\[.*)?$", plain)
            constant = bool(mark[2]) or mark[1].endswith("&") if mark else type_is_const
            if not constant:
                fields.append(re.search(r"(\w+)(\[.*)?$", plain)[1])
    return fields


def self_test():
    text = """
      // struct Gone { int a; };
      class One : public Two<int, 3> {
        Q_OBJECT
       public:
        enum class Kind { kA, kB };
        explicit One(int a, QWidget* parent = nullptr) : Base(parent), a_(a) {}
        std::function<void(int)> call_;
        int size() const { return a_; }
        struct Inner {
          int x = 0, y = 0;
          const int z;
        };
        using Pair = std::pair<int, int>;
        Q_DECLARE_TR_FUNCTIONS(mpm::One)
       signals:
        void said(const QString& text);
       private:
        static constexpr int kMost = 3;
        QLabel *a_, *const b_, *c_;
        QLabel* const d_ = new QLabel("x; int y;");
        const QLabel* e_;
        const std::map<int, int> f_{};
        std::map<int, std::vector<int>> g_ = {{1, {2}}}, h_{};
        Model& model_;
        QLabel* cells_[5][2];
        enum class Drag { kNone } drag_ = Drag::kNone;
      };
    """
    found = {name: fields_of(body) for name, body in classes_in(without_comments(text))}
    expected = {"One": ["call_", "a_", "c_", "e_", "g_", "h_", "cells_", "drag_"], "Inner": ["x", "y"]}
    assert found == expected, found


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    headers = sorted((pathlib.Path(arguments[0]) / "gui").rglob("*.h"))
    counted = []
    for header in headers:
        for name, body in classes_in(without_comments(header.read_text())):
            counted.append((len(fields_of(body)), name, header.relative_to(arguments[0]), fields_of(body)))
    assert len(counted) > 60, "the headers were not found"
    if "--list" in arguments:
        for count, name, header, fields in sorted(counted, key=lambda one: -one[0]):
            print(f"{count:3} {name} ({header}): {' '.join(fields)}")
    wrong = [f"{header}: {name} has {count} members that can change, at most {LIMIT}: {' '.join(fields)}"
             for count, name, header, fields in counted if count > LIMIT and name not in CONSTANT]
    wrong += [f"{name} is not there any more: take it out of CONSTANT" for name in CONSTANT if name not in {one[1] for one in counted}]
    print("\n".join(wrong))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
