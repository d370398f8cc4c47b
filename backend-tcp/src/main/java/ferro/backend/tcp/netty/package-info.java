/**
 * Checks of the Netty that the class path has, before a class of it is used.
 *
 * <p>Start reading at {@code NettyParts}.
 *
 * <p>Nothing here refers to a class of Netty except by its name.
 */
package ferro.backend.tcp.netty;
