#!/usr/bin/env bash
# Makes the Debian packages tidewatt-server and tidewatt-agent of a finished build.
#   tools/package.sh [--build DIR] [--out DIR] [--version VERSION] [--quick]
# --build: default build/release, else build/fast. --out: default build/packages. --quick: compress little, for tests.
# The version is the project's, with the commit where that isn't tagged; the same build gives the same bytes.
set -euo pipefail
umask 022
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
build="" out=$top/build/packages version="" compress=(-Zxz)
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=${2:?--build needs a folder} && shift ;;
    --out) out=${2:?--out needs a folder} && shift ;;
    --version) version=${2:?--version needs a version} && shift ;;
    --quick) compress=(-Zgzip -z1) ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "tools/package.sh: unknown argument '$1', see --help" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$build" ]; then build=build/release; [ -x build/release/bin/tidewatt ] || build=build/fast; fi
for program in tidewatt tidewatt-agent; do
  [ -x "$build/bin/$program" ] || { echo "tools/package.sh: $build/bin/$program is missing: cmake --build $build, or name another with --build" >&2; exit 1; }
done
for tool in dpkg-deb dpkg-shlibdeps cmake strip; do
  command -v $tool >/dev/null || { echo "tools/package.sh: $tool is missing: tools/setup.sh test" >&2; exit 1; }
done

# -- version and time, from the source alone -----------------------------------------------------------------------
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
fi
export SOURCE_DATE_EPOCH
if [ -z "$version" ]; then
  version=$(sed -n 's/^project(tidewatt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  if commit=$(git rev-parse --short=10 HEAD 2>/dev/null) && ! git describe --exact-match --tags HEAD >/dev/null 2>&1; then
    # Before the release that it leads to, and each later commit above the ones before.
    version+="~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$commit"
  fi
fi
arch=$(dpkg --print-architecture)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage/all cmake --install "$build" --prefix /usr --strip >/dev/null
installed=$stage/all/usr   # its headers are left out: cmake --install has them
mkdir -p "$out"

put() { install -D -m "$1" "$2" "$3"; }
packed() { mkdir -p "$(dirname "$1")" && gzip -9n >"$1" && chmod 644 "$1"; }
unit() {  # UNIT PACKAGE USER: a user of the package's own instead of one that systemd makes up
  local to=$stage/$2/lib/systemd/system/$1
  mkdir -p "$(dirname "$to")"
  sed "s/^DynamicUser=yes\$/User=$3\nGroup=$3/" "$installed/lib/systemd/system/$1" >"$to"
  grep -q "^User=" "$to" || { echo "tools/package.sh: $1 names no user" >&2; exit 1; }
}

# -- what each package holds -----------------------------------------------------------------------------------------
s=$stage/tidewatt-server
put 755 "$installed/bin/tidewatt" "$s/usr/bin/tidewatt"
unit tidewatt-server.service tidewatt-server tidewatt
unit tidewatt-slurm-sync.service tidewatt-server slurm
unit tidewatt-slurm-controller.service tidewatt-server slurm
put 644 "$installed/share/tidewatt/slurm/job_submit.lua" "$s/usr/share/tidewatt/slurm/job_submit.lua"
put 644 deploy/deb/tidewatt-server/server.yaml "$s/etc/tidewatt/server.yaml"
"$build/bin/tidewatt" man --to "$stage/man"
for page in "$stage"/man/*.1; do
  name=${page##*/}
  packed "$s/usr/share/man/man1/$name.gz" <"$page"
done
for place in bash:bash-completion/completions/tidewatt zsh:zsh/vendor-completions/_tidewatt fish:fish/vendor_completions.d/tidewatt.fish; do
  mkdir -p "$s/usr/share/$(dirname "${place#*:}")"
  "$build/bin/tidewatt" completion "${place%%:*}" >"$s/usr/share/${place#*:}"
done
mkdir -p "$s/usr/share/doc/tidewatt-server/examples"
"$build/bin/tidewatt" server --sample-config >"$s/usr/share/doc/tidewatt-server/examples/server.yaml"

a=$stage/tidewatt-agent
put 755 "$installed/bin/tidewatt-agent" "$a/usr/bin/tidewatt-agent"
unit tidewatt-agent.service tidewatt-agent tidewatt-agent
put 644 deploy/deb/tidewatt-agent/agent.yaml "$a/etc/tidewatt/agent.yaml"
"$build/bin/tidewatt-agent" --help | python3 tools/agent_help.py man "$version" | packed "$a/usr/share/man/man8/tidewatt-agent.8.gz"
mkdir -p "$a/usr/share/bash-completion/completions" "$a/usr/share/doc/tidewatt-agent/examples"
"$build/bin/tidewatt-agent" --help | python3 tools/agent_help.py bash "$version" >"$a/usr/share/bash-completion/completions/tidewatt-agent"
"$build/bin/tidewatt-agent" --sample-config >"$a/usr/share/doc/tidewatt-agent/examples/agent.yaml"

python3 tools/sbom.py --build "$build" --program tidewatt --version "$version" --web web/package-lock.json |
  packed "$s/usr/share/doc/tidewatt-server/sbom.spdx.json.gz"
python3 tools/sbom.py --build "$build" --program tidewatt-agent --version "$version" |
  packed "$a/usr/share/doc/tidewatt-agent/sbom.spdx.json.gz"

# -- packages ----------------------------------------------------------------------------------------------------------
for package in tidewatt-server tidewatt-agent; do
  root=$stage/$package doc=$stage/$package/usr/share/doc/$package
  put 644 deploy/deb/copyright "$doc/copyright"
  packed "$doc/changelog.gz" <<LOG
tidewatt ($version) unstable; urgency=medium

  * See CHANGELOG.md of the source.

 -- Tidewatt maintainers <packages@tidewatt.dev>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
LOG
  mkdir -p "$stage/lib/debian" "$root/DEBIAN"
  printf 'Source: tidewatt\n\nPackage: %s\nArchitecture: any\n' "$package" >"$stage/lib/debian/control"
  depends=$(cd "$stage/lib" && dpkg-shlibdeps -O -e "$root"/usr/bin/* | sed -n 's/^shlibs:Depends=//p')
  find "$root" -path "$root/DEBIAN" -prune -o -type d -exec chmod 755 {} +
  find "$root" -path "$root/DEBIAN" -prune -o -type f ! -perm -111 -exec chmod 644 {} +
  size=$(du -k -s --apparent-size "$root" | cut -f1)
  sed "s|@VERSION@|$version|; s|@ARCH@|$arch|; s|@DEPENDS@|$depends|; s|@SIZE@|$size|" "deploy/deb/$package/control" >"$root/DEBIAN/control"
  (cd "$root" && find etc -type f | sort | sed 's|^|/|') >"$root/DEBIAN/conffiles"
  (cd "$root" && find usr lib -type f | LC_ALL=C sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
  chmod 644 "$root/DEBIAN"/*
  for script in postinst prerm postrm; do put 755 "deploy/deb/$package/$script" "$root/DEBIAN/$script"; done
  dpkg-deb --root-owner-group "${compress[@]}" --build "$root" "$out/${package}_${version}_$arch.deb" >/dev/null
  echo "$out/${package}_${version}_$arch.deb"
done
