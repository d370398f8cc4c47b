/**
 * The smallest program that uses ferro; the README shows it.
 *
 * <p>Start at {@link ferro.examples.hello.HelloAllReduce}. Nothing here may need more than the front door,
 * {@code ferro.group.ProcessGroup}: whoever reads it has seen nothing else yet.
 */
package ferro.examples.hello;
