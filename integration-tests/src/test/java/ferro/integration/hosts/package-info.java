/**
 * Hosts made of Linux namespaces, for tests of jobs that span machines. Start reading at {@code NamespaceHosts}.
 *
 * <p>What a test starts here belongs to the namespaces of its host and ends with them. Only the wire between the hosts may be
 * used, no network of the machine.
 */
package ferro.integration.hosts;
