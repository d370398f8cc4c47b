package ferro.launcher;

/**
 * How far the ranks of a generation have come.
 *
 * @param joined     whether all ranks have joined
 * @param checkpoint last checkpoint that they have published, such as {@code step 40}; empty text if none is known
 * @param endNanos   when this launcher heard of the first failure, by {@link System#nanoTime}, or when all ranks have ended
 */
record GenerationProgress(boolean joined, String checkpoint, long endNanos) {}
