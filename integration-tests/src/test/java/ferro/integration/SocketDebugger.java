package ferro.integration;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A debugger of the JDK that is attached to a JVM by its port, as an IDE does it. */
final class SocketDebugger implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 30_000;

    private final VirtualMachine machine;

    private SocketDebugger(VirtualMachine machine) {
        this.machine = machine;
    }

    /** Attaches to a JVM of this host that waits for a debugger, and returns when the JVM has said so. */
    static SocketDebugger attach(String port) throws Exception {
        AttachingConnector connector = Bootstrap.virtualMachineManager().attachingConnectors().stream()
                .filter(one -> one.name().equals("com.sun.jdi.SocketAttach"))
                .findFirst()
                .orElseThrow();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("hostname").setValue("127.0.0.1");
        arguments.get("port").setValue(port);
        arguments.get("timeout").setValue("" + TIMEOUT_MILLIS);
        SocketDebugger attached = new SocketDebugger(connector.attach(arguments));
        // a debugger that detaches before this event would leave the JVM suspended
        attached.next();
        return attached;
    }

    /** Lets the program run to the first line of a method; all threads of the JVM stand still when this method returns. */
    void runTo(String className, String method) throws InterruptedException {
        run(className, method, Set.of());
    }

    /**
     * Does the same, and returns the types of ferro without tests and Netty of which a method was entered meanwhile. Threads do
     * not count that exist now and have such names.
     */
    Set<String> typesUntil(String className, String method, String leftOut) throws InterruptedException {
        MethodEntryRequest entries = machine.eventRequestManager().createMethodEntryRequest();
        entries.addClassFilter("ferro.*");
        entries.addClassExclusionFilter("ferro.integration.*");
        entries.addClassExclusionFilter("ferro.shaded.*");
        entries.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        entries.enable();
        Set<ThreadReference> silent = new HashSet<>(machine.allThreads());
        silent.removeIf(thread -> !thread.name().matches(leftOut));
        Set<String> types = run(className, method, silent);
        machine.eventRequestManager().deleteEventRequest(entries);
        return types;
    }

    private Set<String> run(String className, String method, Set<ThreadReference> silent) throws InterruptedException {
        machine.eventRequestManager().deleteAllBreakpoints();
        ClassPrepareRequest prepare = machine.eventRequestManager().createClassPrepareRequest();
        prepare.addClassFilter(className);
        prepare.enable();
        machine.classesByName(className).forEach(type -> breakAt(type, method));
        machine.resume();
        Set<String> entered = new TreeSet<>();
        for (boolean stands = false; !stands; ) {
            EventSet events = next();
            for (Event event : events) {
                stands |= event instanceof BreakpointEvent;
                if (event instanceof ClassPrepareEvent prepared) {
                    breakAt(prepared.referenceType(), method);
                } else if (event instanceof MethodEntryEvent entry && !silent.contains(entry.thread())) {
                    entered.add(entry.location().declaringType().name().replaceFirst("\\$\\$Lambda.*", ""));
                }
            }
            if (!stands) {
                events.resume();
            }
        }
        return entered;
    }

    private EventSet next() throws InterruptedException {
        EventSet events = machine.eventQueue().remove(TIMEOUT_MILLIS);
        if (events == null) {
            throw new IllegalStateException("no event of the JVM within " + TIMEOUT_MILLIS + " ms");
        }
        return events;
    }

    private void breakAt(ReferenceType type, String name) {
        Method method = type.methodsByName(name).get(0);
        machine.eventRequestManager().createBreakpointRequest(method.location()).enable();
    }

    @Override
    public void close() {
        try {
            machine.dispose();
        } catch (VMDisconnectedException ended) {
            // the launcher has ended the rank
        }
    }
}
