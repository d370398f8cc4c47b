/**
 * The smallest program that uses ferro. The README shows this program.
 *
 * <p>Start at {@link ferro.examples.hello.HelloAllReduce}. The program may use only {@code ferro.group.ProcessGroup}
 * and {@code ferro.ReduceOp}, because its reader knows no other class yet.
 */
package ferro.examples.hello;
