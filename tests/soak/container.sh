#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Executes examples/perfdb/Containerfile without a container engine: container.sh BUILD_FOLDER SECONDS (ignores the
# seconds)
exec python3 "$(dirname "$0")/container.py"
