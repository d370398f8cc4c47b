/**
 * The programs that the build of the distribution runs. {@link ferro.distribution.Manual} writes the man pages, and
 * {@link ferro.distribution.Contents} completes the files of the archive.
 *
 * <p>No class of this package is in the archive.
 */
package ferro.distribution;
