package switchcost.kotlin

import java.util.concurrent.ThreadFactory
import kotlinx.coroutines.launch
import switchcost.kit.Main
import switchcost.kit.Own

private fun sequenceMadeAndEnded(token: Long): Long {
    var next = token
    iterator<Unit> { next = token + 1 }.hasNext()
    return next
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
    check(END == Own.END)
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
