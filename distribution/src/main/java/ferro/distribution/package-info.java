/**
 * The programs that the build of the distribution runs. {@link ferro.distribution.ManPageWriter} writes the man pages, and
 * {@link ferro.distribution.ArchiveCompleter} completes the files of the archive.
 *
 * <p>No class of this package is in the archive.
 */
package ferro.distribution;
