/**
 * The smallest program that uses ferro; the README shows it.
 *
 * <p>Start at {@link ferro.examples.hello.HelloAllReduce}. Nothing here may need more than {@code ferro.group.ProcessGroup}:
 * its reader has not seen anything else yet.
 */
package ferro.examples.hello;
