package ferro.spark.task;

import ferro.spark.meeting.DriverLine;
import java.util.List;
import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;

/** The GPU that Spark has given a task: its address is the number of the device. */
record GpuAddress(int device) {
    private static final String GPU = "gpu";

    /**
     * Returns the task's GPU; empty if it has none.
     *
     * @throws IllegalArgumentException if it has several, or the address is no number
     */
    static Optional<GpuAddress> of(TaskContext task) {
        ResourceInformation gpu = task.resourcesJMap().get(GPU);
        if (gpu == null) {
            return Optional.empty();
        }
        if (gpu.addresses().length != 1 || !gpu.addresses()[0].matches("[0-9]{1,4}")) {
            throw new IllegalArgumentException("rank " + task.partitionId() + " has the GPUs "
                    + String.join(",", gpu.addresses())
                    + ": need one number; set spark.task.resource.gpu.amount=1, and a discovery script that"
                    + " names ordinals");
        }
        return Optional.of(new GpuAddress(Integer.parseInt(gpu.addresses()[0])));
    }

    /** Returns the name of the device among those of all hosts. */
    String on(String host) {
        return host + "/" + device;
    }

    /** Refuses a device that another rank of the job has, by the driver's store. */
    void claim(DriverLine line, TaskContext task, String host) {
        String key = task.stageId() + "." + task.stageAttemptNumber() + "/" + on(host);
        line.claim(key).ifPresent(other -> refuse(other, task.partitionId(), host));
    }

    /** Refuses a device that another rank of the job has, by what all ranks have told. */
    void compare(List<String> devices, int rank, String host) {
        int first = devices.indexOf(on(host));
        if (first != rank) {
            refuse(first, rank, host);
        }
    }

    private void refuse(int other, int rank, String host) {
        throw new IllegalArgumentException("ranks " + other + " and " + rank + " both have GPU " + device + " of "
                + host + ": set spark.task.resource.gpu.amount=1, with which Spark gives each task its own");
    }
}
