package ferro.integration;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.ClassPrepareRequest;
import java.util.Map;

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
        ClassPrepareRequest prepare = machine.eventRequestManager().createClassPrepareRequest();
        prepare.addClassFilter(className);
        prepare.enable();
        machine.resume();
        for (boolean stands = false; !stands; ) {
            EventSet events = next();
            for (Event event : events) {
                stands |= event instanceof BreakpointEvent;
                if (event instanceof ClassPrepareEvent prepared) {
                    breakAt(prepared.referenceType(), method);
                }
            }
            if (!stands) {
                events.resume();
            }
        }
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

    /** Detaches, so that the program goes on without breakpoints, unless its JVM has ended. */
    @Override
    public void close() {
        try {
            machine.dispose();
        } catch (VMDisconnectedException ended) {
            // the launcher has ended the rank
        }
    }
}
