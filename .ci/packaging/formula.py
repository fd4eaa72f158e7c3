"""The Homebrew formula. It installs the archives of the release, and names each by its SHA-256."""

import hashlib

from product import NAME, PLATFORMS

FORMULA = """\
class Toolgate < Formula
  desc "{description}"
  homepage "{repository}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

{sources}

  def install
    bin.install "bin/toolgate"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/toolgate"
    zsh_completion.install "share/zsh/site-functions/_toolgate"
    fish_completion.install "share/fish/vendor_completions.d/toolgate.fish"
    doc.install Dir["share/doc/toolgate/*"]
  end

  def caveats
    <<~EOS
      Add it to your agents, with a question before each change:
        #{{opt_bin}}/toolgate setup
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/toolgate --version")
    assert_match "block", shell_output("#{{bin}}/toolgate check 'rm -rf ~'", 2)
  end
end
"""

SOURCE = """\
    on_{processor} do
      url "{url}"
      sha256 "{digest}"
    end"""


def archive(product, platform):
    return f"{NAME}-{product.version}-{platform.target}.tar.gz"


def package(product, folder):
    """The formula for the archives in a folder."""
    systems = []
    for system in ["macos", "linux"]:
        sources = []
        # Homebrew wants ARM first.
        for platform in sorted(PLATFORMS, key=lambda one: one.target):
            file = folder / archive(product, platform)
            if platform.is_linux != (system == "linux") or not file.exists():
                continue
            processor = "arm" if platform.target.startswith("aarch64") else "intel"
            url = f"{product.repository}/releases/download/v{product.version}/{file.name}"
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            sources.append(SOURCE.format(processor=processor, url=url, digest=digest))
        if sources:
            systems.append(f"  on_{system} do\n" + "\n".join(sources) + "\n  end")
    description = product.description.removeprefix("The ").capitalize()
    values = {"description": description, "repository": product.repository, "version": product.version}
    return {f"{NAME}.rb": FORMULA.format(sources="\n\n".join(systems), **values).encode()}
