/**
 * The one module that a program requires: the API, the back end TCP and shared memory between ranks of one host. Start at
 * {@link ferro.group.ProcessGroup}.
 */
module ferro {
    requires transitive ferro.collectives;
    requires ferro.backend.shm;
    requires ferro.backend.tcp;
}
