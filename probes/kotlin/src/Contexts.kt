// The contexts, without a kit: the plain loops of bench/ resume the same ones.
package switchcost.kotlin

import java.util.ArrayDeque
import java.util.concurrent.Executor
import java.util.function.LongUnaryOperator
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield

/** What no turn makes anything else of: a context that gets it hands it on and ends. */
internal const val END = -1L

/** coroutine/kotlin-sequence: a driver takes the next element of an iterator, whose block has suspended at `yield`. */
internal class Sequence(turn: LongUnaryOperator) : LongUnaryOperator {
    private var token = 0L
    private val steps = iterator {
        while (true) {
            token = turn.applyAsLong(token)
            yield(Unit)
        }
    }

    override fun applyAsLong(given: Long): Long {
        token = given
        steps.next()
        return token
    }
}

/** What is ready, first in, first out, run by whoever calls [run]: an event loop without events. */
internal object Ready : Executor {
    private val tasks = ArrayDeque<Runnable>()

    override fun execute(task: Runnable) {
        tasks.add(task)
    }

    fun run() {
        while (true) (tasks.poll() ?: return).run()
    }

    /** Runs the first alone. */
    fun step() = tasks.remove().run()
}

internal val scope = CoroutineScope(Ready.asCoroutineDispatcher())

/** fiber/kotlin: a driver sends on a rendezvous channel where a coroutine waits, and runs what gets ready. */
internal class Rendezvous(turn: LongUnaryOperator) : LongUnaryOperator {
    private val channel = Channel<Long>()
    private var token = 0L

    init {
        scope.launch {
            do token = turn.applyAsLong(channel.receive()) while (token != END)
        }
        Ready.run()
    }

    override fun applyAsLong(given: Long): Long {
        channel.trySend(given)
        Ready.run()
        return token
    }
}

/** fiber/kotlin-yield: coroutines that are always ready; the first yields to the end of the queue. */
internal class Yielding(turn: LongUnaryOperator) : LongUnaryOperator {
    private var token = 0L

    init {
        scope.launch {
            while (true) {
                token = turn.applyAsLong(token)
                if (token == END) break
                yield()
            }
        }
    }

    override fun applyAsLong(given: Long): Long {
        token = given
        Ready.step()
        return token
    }
}
