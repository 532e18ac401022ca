package switchcost.kotlin

import java.util.ArrayDeque
import java.util.concurrent.Executor
import java.util.concurrent.ThreadFactory
import java.util.function.LongUnaryOperator
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import switchcost.kit.Main
import switchcost.kit.Own

/** coroutine/kotlin-sequence: a driver takes the next element of an iterator, whose block has suspended at `yield`. */
private class Sequence(turn: LongUnaryOperator) : LongUnaryOperator {
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

private fun sequenceMadeAndEnded(token: Long): Long {
    var next = token
    iterator<Unit> { next = token + 1 }.hasNext()
    return next
}

/** What is ready, first in, first out, run by whoever calls [run]: an event loop without events. */
private object Ready : Executor {
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

private val scope = CoroutineScope(Ready.asCoroutineDispatcher())

/** fiber/kotlin: a driver sends on a rendezvous channel where a coroutine waits, and runs what gets ready. */
private class Rendezvous(turn: LongUnaryOperator) : LongUnaryOperator {
    private val channel = Channel<Long>()
    private var token = 0L

    init {
        scope.launch {
            do token = turn.applyAsLong(channel.receive()) while (token != Own.END)
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
private class Yielding(turn: LongUnaryOperator) : LongUnaryOperator {
    private var token = 0L

    init {
        scope.launch {
            while (true) {
                token = turn.applyAsLong(token)
                if (token == Own.END) break
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

private fun coroutineMadeAndEnded(token: Long): Long {
    var next = token
    scope.launch { next = token + 1 }
    Ready.run()
    return next
}

/** Resumes every suspended function of Kotlin. */
private const val RESUMER = "kotlin.coroutines.jvm.internal.BaseContinuationImpl"

fun main(words: Array<String>) {
    val coroutines = ClassLoader.getSystemResource("META-INF/kotlinx_coroutines_core.version")?.readText()
    System.setProperty("switchcost.language", "Kotlin ${KotlinVersion.CURRENT}, kotlinx.coroutines $coroutines, ")
    val threads = ThreadFactory { body -> Thread(body).apply { isDaemon = true } }
    val mechanisms = listOf(
        Own.mechanism("coroutine/kotlin-sequence", threads, ::Sequence, ::sequenceMadeAndEnded, RESUMER),
        Own.mechanism("fiber/kotlin", threads, ::Rendezvous, ::coroutineMadeAndEnded, RESUMER),
        Own.switching("fiber/kotlin-yield", threads, ::Yielding, RESUMER),
    )
    Main.main("kotlin", mechanisms, words)
}
