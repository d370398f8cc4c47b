/**
 * A sort of numbers that are spread over the ranks.
 *
 * <p>Start at {@link ferro.examples.samplesort.SampleSort}. No rank needs memory for all numbers, unless most of the
 * numbers are equal.
 */
package ferro.examples.samplesort;
