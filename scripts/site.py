#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a static site that works offline: all Markdown pages, the C++ headers (Doxygen) and the Python package. Fails if a link leads
nowhere or a public name has no sentence. Needs pandoc and doxygen.

  scripts/site.py [FOLDER]      default dist/site; begin with its README.html
"""
import ast
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BAR = "[mpm_layer](@README.md) · [C++](@cpp/namespacempm.html) · [Python](@python/api.md) · [Examples](@examples) · [Changes](@CHANGELOG.md)"
STYLE = "<style>body { max-width: 60em; font-family: sans-serif } pre > code.sourceCode { white-space: pre-wrap }</style>"


def write_page(site, path, text):
    """Writes the page of Markdown `text`, whose links are relative to `path`, and copies what it links to."""
    output = (site / path).with_suffix(".html")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.touch()  # a page of a folder links to itself
    bar = BAR.replace("@", "../" * path.count("/"))
    title = re.search(r"^# (.*)", text, re.M)[1]
    page = subprocess.run(["pandoc", "-f", "gfm", "-t", "html5", "--standalone", "-M", f"pagetitle={title}", "-V", f"header-includes={STYLE}"],
                          input=f"{bar}\n\n{text}", capture_output=True, text=True, check=True).stdout

    def link(match):
        kind, target, rest = match.groups()
        file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(html.unescape(target))))
        if target.endswith(".md"):
            target = target[:-2] + "html"
        elif (ROOT / file).is_dir():
            readme = (ROOT / file / "README.md").exists()
            target = f"{target.rstrip('/')}/{'README' if readme else 'index'}.html"
            if not readme and not (site / file / "index.html").exists():
                names = sorted(one.relative_to(ROOT / file).as_posix() for one in (ROOT / file).rglob("*.*") if "__pycache__" not in one.parts)
                write_page(site, f"{file}/index.md", f"# {file}\n" + "\n".join(f"- [{name}]({name})" for name in names))
        elif (ROOT / file).is_file():
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, site / file)
        return f'{kind}="{target}{rest}"'

    output.write_text(re.sub(r'\b(href|src)="([^"#:]+)((?:#[^"]*)?)"', link, page))


def python_api():
    """The public names of the package as Markdown: signatures and documentation."""
    module = ast.parse((ROOT / "python/mpm/__init__.py").read_text())
    names, parts, last = [], {}, None
    for node in module.body:
        name = getattr(node, "name", None) or (isinstance(node, ast.Assign) and node.targets[0].id)
        if name == "__all__":
            names = ast.literal_eval(node.value)
        if name or (last and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            last = name or last
            parts.setdefault(last, []).append(node)
        for function in ast.walk(node):
            if isinstance(function, ast.FunctionDef):
                function.body = [ast.Expr(ast.Constant(ast.get_docstring(function, clean=False) or ...))]
            elif isinstance(function, ast.ClassDef):
                function.body = [one for one in function.body if not getattr(one, "name", "").startswith("_") or one.name == "__init__"]
    native = (ROOT / "python/stub.pat").read_text()
    text = f"# Python: mpm\n```\n{ast.get_docstring(module)}\n```\n"
    for name in names:
        code = "\n".join(ast.unparse(node) for node in parts.get(name, ())) or re.search(rf"(?m)^    (.*\b{name}\b.*)", native)[1]
        code = re.sub(r"""^( *)(['"])(?!"")(.*)\2$""", lambda line: line[1] + "# " + re.sub(r"\\n *", " ", line[3]), code, flags=re.M)
        if name in parts and not re.search('"""|^# ', code, re.M):
            sys.exit(f"scripts/site.py: no sentence for mpm.{name}")
        text += f"## {name}\n```python\n{code}\n```\n"
    return text


def broken_links(site):
    pages = {page: page.read_text() for page in site.rglob("*.html")}
    ids = {page: set(re.findall(r'\b(?:id|name)="([^"]*)"', text)) for page, text in pages.items()}
    for page, text in pages.items():
        for target in set(re.findall(r'\b(?:href|src)="([^"]*)"', text)):
            path, _, anchor = urllib.parse.unquote(html.unescape(target)).partition("#")
            file = (page.parent / path).resolve() if path else page
            if not re.match(r"\w+:", target) and not (file.is_file() and (not anchor or file not in ids or anchor in ids[file])):
                yield f"{page.relative_to(site)}: {target}"


def main(folder="dist/site"):
    site = pathlib.Path(folder).resolve()
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DMPM_BUILD_TOOLS=OFF", "-DMPM_BUILD_TESTS=OFF", "-DMPM_WITH_CUDA=OFF"],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", build, "--target", "docs"], check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(f"{build}/docs/html", site / "cpp")
    for path in subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        write_page(site, path, (ROOT / path).read_text())
    write_page(site, "python/api.md", python_api())
    broken = sorted(broken_links(site))
    print("\n".join(broken) or f"{site}/README.html")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
