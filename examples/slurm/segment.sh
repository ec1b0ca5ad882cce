#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Segments a folder of images on eight machines of a Slurm cluster: sbatch segment.sh MODEL.onnx IMAGES OUTPUT
# A job that was killed goes on when it is queued again.
#SBATCH --array=1-8
#SBATCH --cpus-per-task=8
#SBATCH --requeue
set -eu
[ $# -eq 3 ] || { echo "usage: sbatch segment.sh MODEL.onnx IMAGES OUTPUT" >&2; exit 2; }
mpm run "$2" --model "$1" --out "$3" --threads "${SLURM_CPUS_PER_TASK:-8}" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --resume
