package ferro.spark.task;

import ferro.spark.meeting.DriverLine;
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

    /** Refuses a device that another rank of the job has. */
    void claim(DriverLine line, TaskContext task, String host) {
        String key = task.stageId() + "." + task.stageAttemptNumber() + "/" + host + "/" + device;
        line.claim(key).ifPresent(other -> {
            throw new IllegalArgumentException(
                    "ranks " + other + " and " + task.partitionId() + " both have GPU " + device + " of " + host
                            + ": set spark.task.resource.gpu.amount=1, with which Spark gives each task its own");
        });
    }
}
