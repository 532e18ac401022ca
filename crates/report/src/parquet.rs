//! Every batch as a row of a Parquet file, for data frames.

use crate::rows::all_lines;
use ::parquet::basic::Compression;
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Invocation, Phase, Run};

/// Columns in the order in which [`Table`] writes them. Nothing is null: what is not known is an empty text.
const SCHEMA: &str = "message batches {
    required binary run (STRING);
    required binary label (STRING);
    required binary mechanism (STRING);
    required binary probe (STRING);
    required binary experiment (STRING);
    required binary placement (STRING);
    required binary timing (STRING);
    required binary parameters (STRING);
    required binary unit (STRING);
    required binary quantity (STRING);
    required binary phase (STRING);
    required binary verdict (STRING);
    required int64 contexts;
    required int64 round;
    required int64 invocation;
    required int64 batch;
    required int64 units;
    required int64 ticks;
    required int64 started_unix_ns;
    required boolean disturbed;
    required double value;
}";

const TEXTS: usize = 12;
const NUMBERS: usize = 7;

/// Rows of a row group: enough for compression to see repetition, few enough to stay small in memory.
const GROUP: usize = 256 * 1024;

/// The columns of a row group.
#[derive(Default)]
struct Table {
    texts: [Vec<ByteArray>; TEXTS],
    numbers: [Vec<i64>; NUMBERS],
    disturbed: Vec<bool>,
    values: Vec<f64>,
}

/// One row a batch, warm-up included and marked; `value` is ns per unit (bytes per context for footprints). Histograms of timing `each` have
/// no batches and are not part of it.
///
/// # Errors
/// When the library refuses, which with memory as its target it should not.
pub fn parquet(run: &Run, catalogue: &Catalogue) -> Result<Vec<u8>, String> {
    write(run, catalogue).map_err(|error| error.to_string())
}

fn write(run: &Run, catalogue: &Catalogue) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let lines = all_lines(run, catalogue);
    let names: BTreeMap<usize, (&str, &str)> =
        lines.iter().map(|line| (line.row.index, (line.label.as_str(), line.unit.as_str()))).collect();
    let mut table = Table::default();
    for invocation in &run.invocations {
        let (label, unit) = names.get(&invocation.variant).copied().unwrap_or_default();
        table.add(run, invocation, label, unit);
        if table.values.len() >= GROUP {
            std::mem::take(&mut table).write(&mut writer)?;
        }
    }
    table.write(&mut writer)?;
    writer.into_inner()
}

impl Table {
    fn add(&mut self, run: &Run, invocation: &Invocation, label: &str, unit: &str) {
        let Some(variant) = run.variants.get(invocation.variant) else { return };
        let parameters: Vec<String> =
            variant.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let hello = invocation.transcript.hello.as_ref();
        let ns_per_tick = hello.map_or(1.0, |hello| 1e9 / hello.clock.ticks_per_second as f64);
        let shared = [
            run.id.as_str(),
            label,
            variant.mechanism.as_str(),
            &variant.probe,
            variant.experiment.as_str(),
            &variant.placement.to_string(),
            variant.timing.as_str(),
            &parameters.join(" "),
            unit,
        ]
        .map(ByteArray::from);
        let verdict = ByteArray::from(invocation.judgement.verdict.as_str());
        for samples in &invocation.transcript.samples {
            let quantity = ByteArray::from(samples.quantity.as_deref().unwrap_or_default());
            let phase = ByteArray::from(if samples.phase == Phase::Measure { "measure" } else { "warmup" });
            // Bytes are no ticks of a clock.
            let scale = if samples.quantity.is_some() { 1.0 } else { ns_per_tick } / samples.units.max(1) as f64;
            for (batch, &ticks) in samples.ticks.iter().enumerate() {
                let own = [quantity.clone(), phase.clone(), verdict.clone()];
                for (column, text) in self.texts.iter_mut().zip(shared.iter().cloned().chain(own)) {
                    column.push(text);
                }
                let numbers = [
                    variant.contexts.cast_signed(),
                    invocation.round.cast_signed(),
                    invocation.sequence.cast_signed(),
                    batch as i64,
                    samples.units.cast_signed(),
                    ticks,
                    invocation.started_unix_ns,
                ];
                for (column, number) in self.numbers.iter_mut().zip(numbers) {
                    column.push(number);
                }
                self.disturbed.push(!invocation.disturbances.is_empty());
                self.values.push(ticks as f64 * scale);
            }
        }
    }

    fn write(self, writer: &mut SerializedFileWriter<Vec<u8>>) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        for texts in &self.texts {
            column::<ByteArrayType>(&mut group, texts)?;
        }
        for numbers in &self.numbers {
            column::<Int64Type>(&mut group, numbers)?;
        }
        column::<BoolType>(&mut group, &self.disturbed)?;
        column::<DoubleType>(&mut group, &self.values)?;
        group.close().map(drop)
    }
}

fn column<T: ::parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}
