//! Bus events for observers of the plane. Snake case here, dots inside objects (M-15).

use super::{MplpId, members::moment};
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BusEvent {
    pub event_id: MplpId,
    pub event_type: String,
    #[serde(with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub timestamp: UnixMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<MplpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<Map<String, Value>>,
    #[serde(flatten)]
    pub family: Family,
}

/// The emitted families: the two required ones, and the one about executions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "event_family", rename_all = "snake_case")]
pub enum Family {
    PipelineStage {
        pipeline_id: MplpId,
        stage_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage_name: Option<String>,
        stage_status: StageStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage_order: Option<u64>,
    },
    GraphUpdate {
        graph_id: MplpId,
        update_kind: UpdateKind,
        node_delta: i64,
        edge_delta: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source_module: Option<String>,
    },
    RuntimeExecution {
        execution_id: MplpId,
        executor_kind: ExecutorKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        executor_role: Option<String>,
        status: ExecutionStatus,
    },
}

impl BusEvent {
    /// A stage of a pipeline, which is the plan or, without one, the Confirm (M-10).
    pub fn pipeline_stage(
        event_id: MplpId,
        event_type: &str,
        at: UnixMillis,
        pipeline_id: MplpId,
        stage_id: &str,
        stage_status: StageStatus,
    ) -> Self {
        let stage_id = stage_id.to_owned();
        let stage = Family::PipelineStage { pipeline_id, stage_id, stage_name: None, stage_status, stage_order: None };
        Self::of(event_id, event_type, at, stage)
    }

    /// Nodes and edges added to (or, if negative, removed from) the graph of a project.
    pub fn graph_update(
        event_id: MplpId,
        event_type: &str,
        at: UnixMillis,
        graph_id: MplpId,
        update_kind: UpdateKind,
        (node_delta, edge_delta): (i64, i64),
        source_module: &str,
    ) -> Self {
        let source_module = Some(source_module.to_owned());
        let update = Family::GraphUpdate { graph_id, update_kind, node_delta, edge_delta, source_module };
        Self::of(event_id, event_type, at, update)
    }

    pub fn runtime_execution(
        event_id: MplpId,
        event_type: &str,
        at: UnixMillis,
        execution_id: MplpId,
        executor_kind: ExecutorKind,
        status: ExecutionStatus,
    ) -> Self {
        let execution = Family::RuntimeExecution { execution_id, executor_kind, executor_role: None, status };
        Self::of(event_id, event_type, at, execution)
    }

    #[must_use]
    pub fn with_payload(mut self, payload: Map<String, Value>) -> Self {
        self.payload = Some(payload);
        self
    }

    #[must_use]
    pub fn in_project(mut self, project_id: MplpId) -> Self {
        self.project_id = Some(project_id);
        self
    }

    fn of(event_id: MplpId, event_type: &str, timestamp: UnixMillis, family: Family) -> Self {
        Self { event_id, event_type: event_type.to_owned(), timestamp, project_id: None, payload: None, family }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Skipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UpdateKind {
    NodeAdd,
    NodeUpdate,
    NodeDelete,
    EdgeAdd,
    EdgeUpdate,
    EdgeDelete,
    Bulk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExecutorKind {
    Agent,
    Tool,
    Llm,
    Worker,
    External,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
}
