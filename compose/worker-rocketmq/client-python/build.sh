#!/bin/sh
# Usage: build.sh FOLDER PYTHON
#
# Puts rocketmq-client-python 2.0.0 into FOLDER, unmodified, with a library that it can load:
#   FOLDER/rocketmq                          the package, and librocketmq.so, which is our shim
#   FOLDER/library/rocketmq/librocketmq.so   the library of the PyPI package `rocketmq` 0.4.4
# Both packages are importable as `rocketmq`, so FOLDER is never a site-packages folder.
# PYTHON has pip. gcc and libc's headers are needed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
python=$2

get() {
  "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --require-hashes --requirement "$here/$1" --target "$2"
}

get package.txt "$folder"
get library.txt "$folder/library"
gcc -shared -fPIC -O2 -Wall -Wextra -Werror \
  -Wl,-soname,libmqproof-rocketmq-shim.so -Wl,-rpath,'$ORIGIN/../library/rocketmq' \
  -o "$folder/rocketmq/librocketmq.so" "$here/shim.c" \
  -L"$folder/library/rocketmq" -l:librocketmq.so
