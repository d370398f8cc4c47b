#!/bin/sh
# Builds the stand-in libraries into folder $1.
set -eu
mkdir -p "$1"
